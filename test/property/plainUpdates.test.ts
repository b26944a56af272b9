/** The short path of an ordinary keystroke decides as the general path does. */
import fc from "fast-check";
import { afterEach, expect, it, vi } from "vitest";
import type { RoomLimits } from "../../realtime/ports.ts";
import { Room } from "../../realtime/room/room.ts";
import { toRuns } from "../support/propertyRuns.ts";
import { articleId, createRealtimeRig } from "../support/realtimeRig.ts";
import { type PairedClient, settle, turns } from "../support/socketPair.ts";

type Step =
  | { readonly kind: "type"; readonly who: number; readonly at: number; readonly text: string; readonly erase: number }
  /** Changes one byte of the newest waiting frame, if it is an update. Presence frames differ by random numbers. */
  | { readonly kind: "spoil"; readonly who: number; readonly byte: number; readonly value: number }
  /** Sends a copy of another client's newest waiting frame. */
  | { readonly kind: "steal"; readonly who: number; readonly from: number }
  | { readonly kind: "drop"; readonly who: number }
  | { readonly kind: "move"; readonly who: number }
  | { readonly kind: "back"; readonly who: number }
  | { readonly kind: "hold" | "release" | "wait" | "quiet" };

const who = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("type" as const),
      who,
      at: fc.nat(12),
      text: fc.oneof({ weight: 3, arbitrary: fc.constantFrom("x", "yz") }, fc.constantFrom("", "", "é", "漢字", "🙂", "longer text\n")),
      erase: fc.constantFrom(0, 0, 0, 1, 3),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("move" as const), who }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("spoil" as const), who, byte: fc.nat(30), value: fc.nat(255) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("steal" as const), who, from: who }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("drop" as const), who }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("back" as const), who }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("hold" as const, "release" as const, "wait" as const, "quiet" as const) }) },
);

/** Limits that short histories reach. */
const limits: Partial<RoomLimits> = { "article.file": 400, "document.bytes": 2000, "document.pending": 4096 };

/** Writes the type of the frame in two bytes. It means the same to the general path, and the short path does not know it. */
const toGeneral = (frame: Uint8Array): Uint8Array =>
  frame[0] === 0 && frame[1] === 2 ? Uint8Array.of(0x80, 0, ...frame.subarray(1)) : frame;

function deliver(client: PairedClient, isGeneral: boolean): void {
  if (isGeneral) client.toServer = client.toServer.map(toGeneral);
  client.deliver();
}

function play(client: PairedClient, clients: readonly PairedClient[], made: Step, isGeneral: boolean): Promise<unknown> | undefined {
  const newest = client.toServer.length - 1;
  switch (made.kind) {
    case "type": {
      const text = client.document.getText("content.md");
      const at = Math.min(made.at, text.length);
      client.document.transact(() => {
        text.delete(at, Math.min(made.erase, text.length - at));
        text.insert(at, made.text);
      });
      return undefined;
    }
    case "spoil": {
      const frame = client.toServer[newest];
      if (frame?.[0] === 0 && made.byte > 2 && made.byte < frame.length) frame[made.byte] = made.value;
      return undefined;
    }
    case "steal": {
      const frame = clients[made.from]?.toServer.at(-1);
      if (frame !== undefined) client.send(frame.slice());
      return undefined;
    }
    case "drop":
      client.toServer.pop();
      return undefined;
    case "move":
      deliver(client, isGeneral);
      client.take();
      return undefined;
    case "back":
      client.disconnect();
      return client.connect();
    default:
      return undefined;
  }
}

afterEach(() => vi.restoreAllMocks());

/** Everything that can be seen from outside after a history. */
async function outcomeOf(steps: readonly Step[], isGeneral: boolean) {
  const rig = createRealtimeRig({ limits });
  try {
    const clients = [await rig.join("ada", { extensions: true }), await rig.join("bob", { extensions: true }), await rig.join("ada")];
    for (const [at, client] of clients.entries()) client.document.clientID = 1000 + at;
    await settle(clients);
    for (const made of steps) {
      if (made.kind === "hold") rig.log.hold();
      else if (made.kind === "release") await rig.log.release();
      else if (made.kind === "quiet") await rig.time.advance(10_000);
      const client = "who" in made ? clients[made.who] : undefined;
      const joining = client === undefined ? undefined : play(client, clients, made, isGeneral);
      if (joining !== undefined) {
        await rig.log.release();
        await joining;
      }
      await turns(2);
    }
    await rig.log.release();
    for (let round = 0; round < 3; round += 1) {
      for (const client of clients) deliver(client, isGeneral);
      await settle(clients);
      await rig.time.advance(300);
    }
    return {
      log: rig.log.batches(articleId).map(({ revision, updates }) => ({ revision, updates })),
      clients: clients.map(({ text, acks, denied, refusals, answers, resyncs, peer }) => ({
        text,
        acks,
        denied,
        refusals,
        answers,
        resyncs,
        closed: peer.closed,
      })),
      live: await rig.liveText(),
    };
  } finally {
    rig.close();
  }
}

it("[RT84] the short path of a keystroke stores, acknowledges and refuses what the general path does", {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
      expect(await outcomeOf(steps, false)).toEqual(await outcomeOf(steps, true));
    }),
    { numRuns: toRuns(200) },
  );
});

it("[RT84] keystrokes take the short path, and the same frames in another encoding the general one", async () => {
  const submitted = vi.spyOn(Room.prototype, "submitPlain");
  const short = () => submitted.mock.results.filter(({ value }) => value === true).length;
  const word: Step[] = Array.from({ length: 5 }, (_, at) => ({ kind: "type", who: 0, at, text: "x", erase: 0 }));
  const erased: Step = { kind: "type", who: 0, at: 1, text: "", erase: 1 };
  const steps = [...word, erased].flatMap((made): Step[] => [made, { kind: "move", who: 0 }]);
  await outcomeOf(steps, true);
  expect(short()).toBe(0);
  await outcomeOf(steps, false);
  // Every keystroke but the first, which introduces the client id.
  expect(short()).toBe(steps.length / 2 - 1);
});
