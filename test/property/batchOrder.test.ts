/** Authors who know each other's text before it is durable, as the tabs of one browser do, write in the same batch. */
import fc from "fast-check";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { toRuns } from "../support/propertyRuns.ts";
import { articleId, createRealtimeRig } from "../support/realtimeRig.ts";
import { type PairedClient, settle, turns } from "../support/socketPair.ts";

type Step =
  | { readonly kind: "write"; readonly who: number; readonly at: number; readonly text: string; readonly erase: number }
  /** Passes everything that one author has to another one, without the server. */
  | { readonly kind: "pass"; readonly from: number; readonly to: number }
  /** Stores the gathered batch, and begins another one. */
  | { readonly kind: "store" };

const who = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      who,
      at: fc.nat(12),
      text: fc.constantFrom("", "x", "yz", "🙂"),
      erase: fc.constantFrom(0, 0, 1, 3),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("pass" as const), from: who, to: who }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("store" as const) }) },
);

type Rig = ReturnType<typeof createRealtimeRig>;

/** One author begins an append that is held. The updates that the other authors send until its release become the next batch. */
async function beginBatch(rig: Rig, first: PairedClient): Promise<void> {
  rig.log.hold();
  first.type(".", 0);
  first.deliver();
  await turns(1);
}

async function play(rig: Rig, authors: readonly PairedClient[], first: PairedClient, steps: readonly Step[]): Promise<void> {
  await beginBatch(rig, first);
  for (const made of steps) {
    if (made.kind === "write") {
      const author = authors[made.who];
      if (author === undefined) continue;
      const text = author.document.getText("content.md");
      const at = Math.min(made.at, text.length);
      author.document.transact(() => {
        text.delete(at, Math.min(made.erase, text.length - at));
        text.insert(at, made.text);
      });
      author.deliver();
    } else if (made.kind === "pass") {
      const [from, to] = [authors[made.from], authors[made.to]];
      if (from !== undefined && to !== undefined) Y.applyUpdate(to.document, Y.encodeStateAsUpdate(from.document), to);
    } else {
      await rig.log.release();
      await settle([...authors, first]);
      await beginBatch(rig, first);
    }
  }
  await rig.log.release();
}

/** Returns the text of each member, which has only what the server sent without a request, and the texts of the server and the log. */
async function textsAfter(steps: readonly Step[], isBuilt: boolean) {
  const rig = createRealtimeRig();
  try {
    const authors = [await rig.join("ada"), await rig.join("bob"), await rig.join("cyd")];
    const first = await rig.join("dan");
    const reader = await rig.join("eve", { mayWrite: false });
    const members = [...authors, first, reader];
    for (const [at, { document }] of members.entries()) document.clientID = 1000 + at;
    await settle(members);
    for (const member of [...authors, first]) {
      member.type(`${member.document.clientID}\n`);
      await settle(members);
    }
    if (isBuilt) await rig.liveText();
    await play(rig, authors, first, steps);
    await settle(members);
    const stored = new Y.Doc();
    for (const { updates } of rig.log.batches(articleId)) for (const { update } of updates) Y.applyUpdate(stored, update);
    return { members: members.map(({ text }) => text), live: await rig.liveText(), stored: stored.getText("content.md").toString() };
  } finally {
    rig.close();
  }
}

/** Ada writes, Bob writes, and Ada continues or erases the text of Bob that another tab has passed on. */
const onceFailed: [Step[], boolean][] = [
  { text: "z", erase: 0 },
  { text: "", erase: 2 },
].map((change) => [
  [
    { kind: "write", who: 0, at: 0, text: "x", erase: 0 },
    { kind: "write", who: 1, at: 1, text: "yz", erase: 0 },
    { kind: "pass", from: 1, to: 0 },
    { kind: "write", who: 0, at: 2, ...change },
  ],
  true,
]);

it("[RT107] changes of text of the same batch reach every member with that batch", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40 }), fc.boolean(), async (steps, isBuilt) => {
      const { members, live, stored } = await textsAfter(steps, isBuilt);
      expect({ members, live }).toEqual({ members: members.map(() => stored), live: stored });
    }),
    { numRuns: toRuns(100), examples: onceFailed },
  );
});
