import { expect, test } from "vitest";
import type { Commit } from "../../../../../api/schema/article.ts";
import { toDays, toTitle } from "./commitTexts.ts";

const now = new Date(2026, 10, 23, 12, 0);

function commitAt(date: Date): Commit {
  return {
    commitId: "cmt_01KAHX0000050123456789ABCD",
    articleId: "art_01KAHX0000050123456789ABCD",
    revision: 1,
    parentRevision: null,
    kind: "checkpoint",
    message: "",
    authors: [],
    files: [],
    createdAt: date.getTime() / 1000,
  };
}

test("commits are grouped by the day of the reader's clock", () => {
  const commits = [new Date(2026, 10, 23, 0, 1), new Date(2026, 10, 22, 23, 59), new Date(2026, 10, 22, 8, 0), new Date(2026, 9, 1)].map(
    commitAt,
  );
  const days = toDays(commits, now);
  expect(days.map((day) => day.commits.length)).toEqual([1, 2, 1]);
  expect(days.slice(0, 2).map(({ title }) => title)).toEqual(["Today", "Yesterday"]);
});

test("a commit is called by its name, otherwise by its message, otherwise by its kind", () => {
  expect(toTitle({ name: "Sent", message: "Typo", kind: "commit" })).toBe("Sent");
  expect(toTitle({ message: "Typo", kind: "commit" })).toBe("Typo");
  expect(toTitle({ message: "", kind: "checkpoint" })).toBe("Checkpoint");
});
