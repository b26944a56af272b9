/** Tests how a step and people type into the same file at once, in real rooms. The step has its own client id. */
import { afterEach, describe, expect, test } from "vitest";
import { defaultLimits } from "../../../../api/limits.ts";
import { AppError } from "../../../../api/schema/error.ts";
import { articleId, createRealtimeRig } from "../../../../test/support/realtimeRig.ts";
import { settle } from "../../../../test/support/socketPair.ts";
import { createDocumentWriting } from "../../articles/documentWriting.ts";
import { planEdit } from "../../articles/editPlan.ts";
import { textsOfDocument } from "../../articles/fileTexts.ts";
import { type ArticleSession, openArticleSession } from "./articleSession.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

interface Attempt {
  readonly earlierWriters?: readonly number[];
  readonly before?: string;
  readonly limits?: { readonly "article.file": number };
}

function open(writer = 500, { earlierWriters = [], before, limits = defaultLimits }: Attempt = {}): Promise<ArticleSession> {
  return openArticleSession({
    rooms: rig.rooms,
    documents: { read: (id) => rig.rooms.read(id, (document, revision) => ({ revision, texts: textsOfDocument(document) })) },
    writing: createDocumentWriting({ texts: { planEdit: async (_owner, task) => planEdit(task) }, limits }),
    after: rig.time.after,
    now: rig.time.now,
    articleId,
    workspaceId: "ws_test",
    file: "content.md",
    author: { username: "ada", kind: "agent" },
    displayName: "ada's agent",
    writer,
    earlierWriters,
    before,
    guard: { id: "row", fence: 1 },
  });
}

/** Advances the clock of the batches until the work is written to the log. */
async function done<Value>(work: Promise<Value>): Promise<Value> {
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  end.catch(() => {});
  await rig.time.until(() => isOver, { stepMs: 25, withinMs: 60_000 });
  return end;
}

const live = () => rig.liveText();

/** Writes a piece and waits until it is in the live text. */
async function show(session: ArticleSession, piece: string): Promise<void> {
  await done(session.write(piece));
  await rig.time.until(async () => (await live()).includes(piece), { stepMs: 25, withinMs: 60_000 });
}

describe("into a blank file", () => {
  test("[RU30] text streams in as it is made, and text typed inside or after it stays in its place", async () => {
    rig = createRealtimeRig();
    const bob = await rig.join("bob");
    const session = await open();
    await show(session, "# One\n\n");
    await settle(rig.clients);
    expect(bob.text).toBe("# One\n\n");
    bob.type("NOTE", bob.text.length);
    bob.type("!", 5);
    await settle(rig.clients);
    await show(session, "Two is written ");
    await show(session, "behind its own end.");
    const { revision } = await done(session.finish("# One\n\nTwo is written behind its own end."));
    expect(await live()).toBe("# One!\n\nTwo is written behind its own end.NOTE");
    expect(revision).toBeGreaterThan(3);
  });

  test("[RU30] if the final text differs from the streamed text, only the difference is written", async () => {
    rig = createRealtimeRig();
    const bob = await rig.join("bob");
    const session = await open();
    await show(session, "The first drafft has a typo.\nA second line.\n");
    await settle(rig.clients);
    bob.type("By bob: ", 0);
    await settle(rig.clients);
    await done(session.finish("The first draft has a typo.\nA second line.\nA third.\n"));
    expect(await live()).toBe("By bob: The first draft has a typo.\nA second line.\nA third.\n");
  });

  test("[RU30] many small pieces become few updates, and a divided surrogate pair is joined", async () => {
    rig = createRealtimeRig();
    const session = await open();
    // The session does not wait between pieces, because a model sends pieces faster than they are written.
    const pieces = [..."a long text, letter by letter, with a ", "\ud83d", "\ude80", " and a lone \ud800 half and a \0"];
    for (const piece of pieces) await session.write(piece);
    await done(session.finish(pieces.join("")));
    expect(await live()).toBe("a long text, letter by letter, with a 🚀 and a lone \ufffd half and a \ufffd");
    expect(rig.log.batches(articleId).length).toBeLessThan(4);
  });

  test("[RU30] an executor is paused only when it writes faster than the text becomes durable", async () => {
    rig = createRealtimeRig();
    const session = await open();
    await show(session, "A");
    await session.write("b".repeat(600));
    let isTaken = false;
    const more = session.write("c".repeat(600)).then(() => {
      isTaken = true;
    });
    await settle(rig.clients);
    expect(isTaken).toBe(false);
    await done(more);
    expect(await live()).toBe(`A${"b".repeat(600)}${"c".repeat(600)}`);
  });
});

describe("into a file that holds a text", () => {
  test("[RU31] nothing is visible before the end; then the new text is merged with people's text", async () => {
    rig = createRealtimeRig();
    const bob = await rig.join("bob");
    bob.type("The outline.\n\nIts first point.\n\nIts second point.\n", 0);
    await settle(rig.clients);
    const session = await open();
    expect(session.texts["content.md"]).toContain("first point");
    await done(session.write("whatever is streamed"));
    expect(await live()).not.toContain("whatever");
    bob.type("Bob adds a point.\n", bob.text.length);
    await settle(rig.clients);
    await done(session.finish("The outline, better.\n\nIts first point.\n\nIts other point.\n"));
    expect(await live()).toBe("The outline, better.\n\nIts first point.\n\nIts other point.\nBob adds a point.\n");
  });

  test("[RU31] writing the same text again changes nothing", async () => {
    rig = createRealtimeRig();
    const bob = await rig.join("bob");
    bob.type("As it was.\n", 0);
    await settle(rig.clients);
    const before = rig.log.batches(articleId).length;
    const session = await open();
    const { revision } = await done(session.finish("As it was.\n"));
    expect(rig.log.batches(articleId)).toHaveLength(before);
    expect(revision).toBe(before);
  });
});

test("[RU32] the text of an earlier attempt is reverted first, and no other author's text", async () => {
  rig = createRealtimeRig();
  const bob = await rig.join("bob");
  const first = await open(500);
  await show(first, "An attempt that was cut off in the mid");
  await settle(rig.clients);
  bob.type(" (bob was here) ", 10);
  await settle(rig.clients);
  const second = await open(501, { earlierWriters: [500], before: "" });
  expect(await live()).toBe(" (bob was here) ");
  await show(second, "The whole ");
  expect(await live()).toBe(" (bob was here) The whole ");
  await done(second.finish("The whole draft.\n"));
  expect(await live()).toBe(" (bob was here) The whole draft.\n");
});

test("[RU32] an interrupted rewrite is merged against the text with which its first attempt began", async () => {
  rig = createRealtimeRig();
  const bob = await rig.join("bob");
  bob.type("First line.\nSecond line.\n", 0);
  await settle(rig.clients);
  const first = await open(500);
  first.close();
  bob.type("Bob's line.\n", bob.text.length);
  await settle(rig.clients);
  const second = await open(501, { earlierWriters: [500], before: "First line.\nSecond line.\n" });
  expect(second.texts["content.md"]).toBe("First line.\nSecond line.\n");
  await done(second.finish("First line, new.\nSecond line.\n"));
  expect(await live()).toBe("First line, new.\nSecond line.\nBob's line.\n");
});

test("[RU32] nothing is written after the lease moved to another node or after the step's end", async () => {
  rig = createRealtimeRig();
  const session = await open();
  await show(session, "before ");
  rig.log.raiseFence("row", 2);
  await done(session.write("after"));
  await expect(done(session.finish("before after"))).rejects.toThrow(/lease/);
  await expect(session.write("and more")).rejects.toThrow(/lease/);
  expect(await live()).toBe("before ");
  const other = await open(501);
  other.close();
  await expect(other.write("late")).rejects.toThrow();
});

test("[RU33] a text that does not fit into the file is refused, and the file stays unchanged", async () => {
  rig = createRealtimeRig();
  const session = await open(500, { limits: { "article.file": 10 } });
  await show(session, "ten bytes.");
  await done(session.write("more"));
  await expect(done(session.finish("ten bytes.more"))).rejects.toThrow(AppError);
  expect(await live()).toBe("ten bytes.");
});
