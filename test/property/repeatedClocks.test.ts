/** Updates that repeat clocks of earlier updates, with the same text or with another one. */
import fc from "fast-check";
import * as encoding from "lib0/encoding";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { rawUpdate, updateFrame } from "../support/hostileFrames.ts";
import { toRuns } from "../support/propertyRuns.ts";
import { articleId, createRealtimeRig } from "../support/realtimeRig.ts";
import { settle, turns } from "../support/socketPair.ts";

const ids = [7, 8] as const;

interface Section {
  /** The update begins this number of clocks before the end of what was sent under the client id. */
  readonly back: number;
  readonly text: string;
}

type Step =
  | { readonly kind: "send"; readonly by: number; readonly isAnswer: boolean; readonly sections: readonly (Section | undefined)[] }
  /** `quiet`: the room drops its document, and keeps the next one as bytes. `build`: the server reads the text. */
  | { readonly kind: "hold" | "release" | "quiet" | "build" };

const section: fc.Arbitrary<Section> = fc.record({
  back: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat(6)),
  text: fc.string({ unit: fc.constantFrom("a", "b", "c", "é", "🙂"), minLength: 1, maxLength: 6 }),
});
const maybe = fc.option(section, { nil: undefined, freq: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("send" as const), by: fc.nat(1), isAnswer: fc.boolean(), sections: fc.tuple(maybe, maybe) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("hold" as const, "release" as const, "quiet" as const, "build" as const) }),
  },
);

/** Text under a client id at the end of its earlier text. */
const insert = (clientId: number, from: number, text: string) => (encoder: encoding.Encoder) => {
  encoding.writeUint8(encoder, from === 0 ? 4 : 4 | 128);
  for (const number of from === 0 ? [1] : [clientId, from - 1]) encoding.writeVarUint(encoder, number);
  if (from === 0) encoding.writeVarString(encoder, "content.md");
  encoding.writeVarString(encoder, text);
};

/** Builds the update of one step, and adds its new clocks to `texts`: the text of each client id, as it was sent first. */
function updateOf(sections: readonly (Section | undefined)[], texts: Map<number, string>): Uint8Array {
  const made = ids.flatMap((clientId, at) => {
    const section = sections[at];
    if (section === undefined) return [];
    const known = texts.get(clientId) ?? "";
    const from = Math.max(0, known.length - section.back);
    // Half a character has no encoding, so it becomes U+FFFD.
    texts.set(clientId, known + Buffer.from(section.text.slice(known.length - from)).toString());
    return [{ clientId, clock: from, structs: [insert(clientId, from, section.text)] }];
  });
  return rawUpdate(made.toReversed());
}

function textOf(updates: readonly Uint8Array[]): string {
  const document = new Y.Doc();
  for (const update of updates) Y.applyUpdate(document, update);
  return document.getText("content.md").toString();
}

async function copiesAfter(steps: readonly Step[]) {
  const rig = createRealtimeRig();
  try {
    const writers = [await rig.join("ada"), await rig.join("ada")];
    const reader = await rig.join("eve", { mayWrite: false });
    const texts = new Map<number, string>();
    await settle([reader]);
    for (const made of steps) {
      if (made.kind === "send") {
        writers[made.by]?.connection?.receive(updateFrame(updateOf(made.sections, texts), made.isAnswer ? 1 : 2));
      } else if (made.kind === "hold") rig.log.hold();
      else await rig.log.release();
      if (made.kind === "quiet") await rig.time.advance(20_000);
      if (made.kind === "build") await rig.liveText();
      await turns(2);
    }
    await rig.log.release();
    await settle([reader]);
    const late = await rig.join("fay", { mayWrite: false });
    await settle([late]);
    const live = await rig.liveText();
    const logged = rig.log.batches(articleId).flatMap(({ updates }) => updates.map(({ update }) => update));
    return {
      first: ids.map((clientId) => texts.get(clientId) ?? "").join(""),
      copies: {
        reader: reader.text,
        late: late.text,
        live,
        log: textOf(logged),
        merged: logged.length === 0 ? "" : textOf([Y.mergeUpdates(logged)]),
      },
    };
  } finally {
    rig.close();
  }
}

const send = (back: number, text: string): Step => ({ kind: "send", by: 0, isAnswer: false, sections: [{ back, text }, undefined] });

it("[RT108] all copies of a document keep the text that came first for its clocks", { timeout: 120_000 }, async () => {
  const onceFailed: Step[] = [send(0, "01234"), { kind: "quiet" }, send(0, "good"), send(6, "..evilmore")];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      const { first, copies } = await copiesAfter(steps);
      expect(copies).toEqual({ reader: first, late: first, live: first, log: first, merged: first });
    }),
    { numRuns: toRuns(200), examples: [[onceFailed]] },
  );
});
