/** Tests edits of long texts: threads compute them, and text typed meanwhile is kept. */
import { describe, expect, test } from "vitest";
import type * as Y from "yjs";
import { toContentHash } from "../../server/domain/articles/fileTexts.ts";
import { countLoopTurns } from "../support/loopTurns.ts";
import { domainStorages } from "../support/storages.ts";
import { useEditedArticle } from "./articleEditFixture.ts";

describe.each(domainStorages())("edits of long texts on %s", (_name, open) => {
  const start = useEditedArticle(open);

  const long = Array.from({ length: 6000 }, (_, at) => `line ${at} of a long text\n`).join("");
  const unrelated = Array.from({ length: 6000 }, (_, at) => `${(at * 7919).toString(36)} something else ${at}\n`).join("");

  /** Awaiting alone takes a few turns; work on this text in another thread leaves thousands. */
  const leastTurns = 200;

  test("[AR19] the event loop stays free while texts are merged and compared", async () => {
    const { node, articleId, call, edit, type } = await start(long);
    await type(0, "typed\n");
    const request = { mode: "replace", content: unrelated, baseRevision: 1, dryRun: true } as const;
    expect((await countLoopTurns(() => edit(request))).turns).toBeGreaterThan(leastTurns);
    await edit({ mode: "replace", file: "outline.md", content: long, baseRevision: 0 });
    await edit({ mode: "replace", file: "outline.md", content: unrelated.replaceAll("else", "long text"), baseRevision: 3 });
    const difference = { from: 3, to: "live", file: "outline.md", format: "words" } as const;
    expect((await countLoopTurns(() => node.content.diff(articleId, difference, call()))).turns).toBeGreaterThan(leastTurns);
  });

  test("[AR20] text typed while a long edit is computed is kept, and the edit is applied around it", async () => {
    const { node, articleId, edit, live, type } = await start(long);
    const written = long.replaceAll("text", "story");
    const editing = edit({ mode: "replace", content: written, baseRevision: 1 });
    // A thread plans the edit on the text as it was before this change.
    await node.rooms.read(articleId, () => undefined);
    await type(long.indexOf("line 3000"), "typed ");
    await type(0, "first\n");
    expect(await editing).toMatchObject({ merged: true, applied: 1 });
    const expected = `first\n${written.replace("line 3000", "typed line 3000")}`;
    expect(await live()).toBe(expected);
  });

  test("[AR9] with onConflict fail, text typed while a long edit is computed refuses the edit", async () => {
    const { node, articleId, edit, live, type } = await start(long);
    const editing = edit({ mode: "replace", content: unrelated, baseRevision: 1, onConflict: "fail" });
    const refused = expect(editing).rejects.toMatchObject({ code: "revision_conflict", facts: { currentRevision: 2 } });
    await node.rooms.read(articleId, () => undefined);
    await type(0, "first\n");
    await refused;
    expect(await live()).toBe(`first\n${long}`);
  });

  test("[AR12] the same long text sent twice at once on a stale base is written once", async () => {
    const { edit, live, type } = await start(long);
    await type(0, "first\n");
    const request = { mode: "replace", content: long.replaceAll("text", "text, and more"), baseRevision: 1 } as const;
    const answers = await Promise.all([edit(request), edit(request), edit(request)]);
    expect(answers.map(({ revision }) => revision)).toEqual([3, 3, 3]);
    expect(await live()).toBe(`first\n${request.content}`);
  });

  test("[AR21] an edit at thousands of places is one revision with exactly its text", async () => {
    const { node, articleId, edit, live } = await start(long);
    const edits = [{ find: "of", replace: "from", occurrence: "all" }] as const;
    expect(await edit({ mode: "patch", edits: [...edits] })).toMatchObject({
      revision: 2,
      contentHash: toContentHash(long.replaceAll("of", "from")),
    });
    expect(await live()).toBe(long.replaceAll("of", "from"));
    const pieces = (document: Y.Doc) => [...document.store.clients.values()].reduce((sum, structs) => sum + structs.length, 0);
    expect(await node.rooms.read(articleId, pieces)).toBeLessThanOrEqual(3 * 2000 + 1);
  });
});
