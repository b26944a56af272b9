import { expect, test } from "vitest";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { allFields, toChanges } from "./topicFields.ts";

const topic: ContentTopic = {
  topicId: "top_1",
  workspaceId: "ws_1",
  ownerId: "ana",
  title: "Backups that restore",
  targetAudience: "operators",
  estimatedIntent: "informational",
  priorityScore: 50,
  priorityRationale: "Created by ana",
  status: "idea",
  createdAt: 1,
  updatedAt: 1,
  wordCountRange: { min: 900, max: 1400 },
  mustInclude: ["fsync"],
};

test("a form that was not touched, or was typed back, changes nothing", () => {
  const typed = Object.fromEntries(allFields.map(({ name, read }) => [name, read(topic)]));
  expect(toChanges(topic, {})).toEqual({});
  expect(toChanges(topic, typed)).toEqual({});
});

test("only the fields that differ are sent", () => {
  expect(toChanges(topic, { title: " Backups ", targetAudience: "operators", priorityScore: "80", articleType: "how_to" })).toEqual({
    title: "Backups",
    priorityScore: 80,
    articleType: "how_to",
  });
});

test("a list has one entry a line, and a source is an address and its reason", () => {
  expect(toChanges(topic, { mustInclude: "fsync\n\n power cut ", suggestedSources: "https://a.example  explains it well" })).toEqual({
    mustInclude: ["fsync", "power cut"],
    suggestedSources: [{ url: "https://a.example", why: "explains it well" }],
  });
});

test("an empty length removes the range, and one number is both ends", () => {
  expect(toChanges(topic, { wordCountRange: "" })).toEqual({ wordCountRange: null });
  expect(toChanges(topic, { wordCountRange: "1200" })).toEqual({ wordCountRange: { min: 1200, max: 1200 } });
  expect(toChanges(topic, { wordCountRange: "800 - 1000" })).toEqual({ wordCountRange: { min: 800, max: 1000 } });
});
