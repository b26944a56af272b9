/**
 * Hostile writers send everything that the Yjs encoding allows: two versions of one clock, text next to missing text,
 * deletions of future clocks, under client ids of others and of the server. Honest clients and requests write meanwhile.
 */
import fc from "fast-check";
import * as encoding from "lib0/encoding";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { articleFiles } from "../../api/schema/article.ts";
import { encodeWhole } from "../../realtime/document/encodeDocument.ts";
import { rawUpdate, updateFrame } from "../support/hostileFrames.ts";
import { toRuns } from "../support/propertyRuns.ts";
import { articleId, createRealtimeRig } from "../support/realtimeRig.ts";
import { type PairedClient, settle, turns } from "../support/socketPair.ts";

/** Owner of a clock: 0 and 1 are honest clients, 2 is the last server edit, higher numbers are unused client ids. */
const who = fc.nat(6);
const clock = fc.nat(14);
const length = fc.integer({ min: 1, max: 6 });
const beside = fc.option(fc.record({ who, clock }), { freq: 2, nil: undefined });
const madeStruct = fc.record({
  kind: fc.constantFrom("skip", "deleted", "gc", "text", "text", "text"),
  length,
  beside,
  before: beside,
  file: fc.nat(2),
});
type MadeStruct = typeof madeStruct extends fc.Arbitrary<infer One> ? One : never;

const evil = fc.record({
  kind: fc.constant("evil" as const),
  isAnswer: fc.boolean(),
  by: fc.nat(1),
  sections: fc.uniqueArray(fc.record({ who, clock, structs: fc.array(madeStruct, { minLength: 1, maxLength: 3 }) }), {
    maxLength: 2,
    selector: (section) => section.who,
  }),
  deletes: fc.array(fc.record({ who, ranges: fc.array(fc.tuple(clock, length), { minLength: 1, maxLength: 2 }) }), { maxLength: 1 }),
});
const at = fc.nat(20);
const text = fc.string({ minLength: 1, maxLength: 3 });
const one = fc.nat(1);
const step = fc.oneof(
  { weight: 6, arbitrary: evil },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("type" as const), one, at, text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("erase" as const), one, at, length }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("move" as const), one }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("edit" as const), at, text, isKeyed: fc.boolean(), erase: fc.nat(3), file: fc.nat(2) }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: "hold" as const }, { kind: "release" as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

function writeStruct(made: MadeStruct, ids: readonly number[]) {
  return (encoder: encoding.Encoder): void => {
    if (made.kind === "gc" || made.kind === "skip") {
      encoding.writeUint8(encoder, made.kind === "gc" ? 0 : 10);
      encoding.writeVarUint(encoder, made.length);
      return;
    }
    const neighbours = [made.beside, made.before];
    encoding.writeUint8(encoder, (made.kind === "text" ? 4 : 1) | (made.beside ? 128 : 0) | (made.before ? 64 : 0));
    for (const neighbour of neighbours) {
      if (neighbour === undefined) continue;
      encoding.writeVarUint(encoder, ids[neighbour.who] ?? 0);
      encoding.writeVarUint(encoder, neighbour.clock);
    }
    if (neighbours.every((neighbour) => neighbour === undefined)) {
      encoding.writeVarUint(encoder, 1);
      encoding.writeVarString(encoder, articleFiles[made.file] ?? "content.md");
    }
    if (made.kind === "text") encoding.writeVarString(encoder, "EVILTX".slice(0, made.length));
    else encoding.writeVarUint(encoder, made.length);
  };
}

function textsOf(document: Y.Doc): readonly string[] {
  return articleFiles.map((file) => document.getText(file).toString());
}

function documentOf(updates: readonly Uint8Array[]): Y.Doc {
  const document = new Y.Doc();
  for (const file of articleFiles) document.getText(file);
  for (const update of updates) Y.applyUpdate(document, update);
  return document;
}

async function play(rig: ReturnType<typeof createRealtimeRig>, good: readonly PairedClient[], steps: readonly Step[]): Promise<void> {
  const bad = [await rig.join("mal"), await rig.join("mel")];
  const edits: Promise<unknown>[] = [];
  let serverId = 77;
  for (const [number, made] of steps.entries()) {
    const client = "one" in made ? good[made.one] : undefined;
    switch (made.kind) {
      case "evil": {
        const ids = [...good.map(({ document }) => document.clientID), serverId, 3, 4, 5, 6];
        const idOf = (index: number) => ids[index] ?? 0;
        const update = rawUpdate(
          made.sections
            .map((section) => ({
              clientId: idOf(section.who),
              clock: section.clock,
              structs: section.structs.map((struct) => writeStruct(struct, ids)),
            }))
            // Sections in another order are refused, so they would test nothing else.
            .sort((a, b) => b.clientId - a.clientId),
          made.deletes.map(({ who: index, ranges }) => ({ clientId: idOf(index), ranges })),
        );
        if (bad[made.by]?.peer.closed !== undefined) {
          const joining = rig.join(`mal${number}`);
          await rig.log.release(0);
          bad[made.by] = await joining;
        }
        bad[made.by]?.connection?.receive(updateFrame(update, made.isAnswer ? 1 : 2));
        await turns(1);
        break;
      }
      case "type":
        client?.type(made.text, Math.min(made.at, client.text.length));
        break;
      case "erase": {
        const start = Math.min(made.at, client?.text.length ?? 0);
        client?.document.getText("content.md").delete(start, Math.min(made.length, client.text.length - start));
        break;
      }
      case "move":
        client?.deliver();
        await turns(1);
        client?.take();
        break;
      case "edit":
        edits.push(
          rig.rooms.edit(articleId, { username: "api", kind: "key" }, made.isKeyed ? 5000 + number : undefined, (document) => {
            serverId = document.clientID;
            const all = document.getText(articleFiles[made.file] ?? "content.md");
            const start = Math.min(made.at, all.toString().length);
            all.delete(start, Math.min(made.erase, all.toString().length - start));
            all.insert(start, made.text);
          }),
        );
        await turns(1);
        break;
      case "hold":
        rig.log.hold();
        break;
      case "release":
        await rig.log.release();
        break;
    }
  }
  await rig.log.release();
  await Promise.all(edits);
}

it("[RT1] [RT8] [RT12] after any hostile update the document opens, and all copies of it agree", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
      const rig = createRealtimeRig();
      try {
        const good = [await rig.join("ada"), await rig.join("bob")];
        await settle(good);
        await play(rig, good, steps);
        for (let round = 0; round < 4; round += 1) {
          await settle(good);
          await rig.time.advance(300);
        }
        await settle(good);

        const live = await rig.rooms.read(articleId, textsOf);
        for (const client of good) expect(client.peer.closed).toBeUndefined();
        for (const client of good) expect(textsOf(client.document)).toEqual(live);
        const logged = rig.log.batches(articleId).flatMap(({ updates }) => updates.map(({ update }) => update));
        expect(textsOf(documentOf(logged))).toEqual(live);
        const kept = await rig.rooms.read(articleId, encodeWhole);
        if (kept !== undefined) expect(textsOf(documentOf([kept]))).toEqual(live);
        const late = await rig.join("eve");
        await settle([late]);
        expect(textsOf(late.document)).toEqual(live);
      } finally {
        rig.close();
      }
    }),
    { numRuns: toRuns(500) },
  );
});
