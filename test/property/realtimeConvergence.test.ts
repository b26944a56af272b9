/** Random histories over queued sockets and a log whose appends the history holds back, fails and releases. */
import fc from "fast-check";
import * as decoding from "lib0/decoding";
import { expect, it } from "vitest";
import * as Y from "yjs";
import type { RoomLimits } from "../../realtime/ports.ts";
import { toRuns } from "../support/propertyRuns.ts";
import { articleId, createRealtimeRig } from "../support/realtimeRig.ts";
import { type PairedClient, settle, turns } from "../support/socketPair.ts";

type Rig = ReturnType<typeof createRealtimeRig>;

type Step =
  | { kind: "type"; client: number; at: number; text: string }
  | { kind: "erase"; client: number; at: number; length: number }
  | { kind: "replace"; client: number; at: number; text: string }
  | { kind: "toServer"; client: number; count: number }
  | { kind: "toClient"; client: number; count: number }
  | { kind: "ask"; client: number }
  | { kind: "reconnect"; client: number }
  | { kind: "whisper"; client: number; to: number }
  | { kind: "edit"; text: string; at: number }
  | { kind: "hold" }
  | { kind: "release"; count: number }
  | { kind: "fail" }
  | { kind: "wait"; ms: number };

const client = fc.nat(3);
const at = fc.nat(40);
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("type" as const), client, at, text }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("erase" as const), client, at, length: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("replace" as const), client, at, text }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("toServer" as const), client, count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("toClient" as const), client, count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("ask" as const), client }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reconnect" as const), client }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("whisper" as const), client, to: client }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("edit" as const), text, at }) },
  { weight: 1, arbitrary: fc.constant({ kind: "hold" as const }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("release" as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "fail" as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 400 }) }) },
);

/** Histories that failed once: a client had text and deletions that it did not get from the server. */
const onceFailed: Step[][] = [
  [
    { kind: "type", client: 2, at: 0, text: " " },
    { kind: "whisper", client: 2, to: 0 },
    { kind: "fail" },
    { kind: "toClient", client: 0, count: 1 },
    { kind: "type", client: 0, at: 0, text: " " },
    { kind: "type", client: 0, at: 0, text: " " },
    { kind: "toClient", client: 0, count: 2 },
    { kind: "toServer", client: 0, count: 2 },
    { kind: "erase", client: 0, at: 0, length: 1 },
    { kind: "toServer", client: 0, count: 1 },
    { kind: "type", client: 0, at: 0, text: " " },
    { kind: "replace", client: 0, at: 0, text: " " },
  ],
  [
    { kind: "type", client: 3, at: 0, text: " " },
    { kind: "whisper", client: 3, to: 0 },
    { kind: "fail" },
    { kind: "type", client: 1, at: 0, text: " " },
    { kind: "toServer", client: 0, count: 1 },
    { kind: "release", count: 1 },
    { kind: "ask", client: 0 },
    { kind: "toServer", client: 0, count: 1 },
    { kind: "reconnect", client: 0 },
    { kind: "erase", client: 0, at: 0, length: 1 },
    { kind: "type", client: 1, at: 0, text: " " },
    { kind: "hold" },
    { kind: "type", client: 1, at: 0, text: " " },
  ],
];

/** A history that failed once on two nodes: a client deleted text that its node had not read from the other node yet. */
const onceFailedOnTwoNodes: Step[] = [
  { kind: "toServer", client: 0, count: 1 },
  { kind: "type", client: 0, at: 0, text: " " },
  { kind: "ask", client: 0 },
  { kind: "replace", client: 0, at: 0, text: " 𐀀 " },
  { kind: "whisper", client: 0, to: 1 },
  { kind: "toClient", client: 0, count: 1 },
  { kind: "toClient", client: 1, count: 1 },
  { kind: "toServer", client: 0, count: 1 },
  { kind: "release", count: 1 },
  { kind: "erase", client: 1, at: 0, length: 1 },
];

const names = ["ada", "bob", "cyd", "dan"];
const clamp = (value: number, max: number) => Math.max(0, Math.min(value, max));

async function play(rig: Rig, clients: PairedClient[], steps: readonly Step[]): Promise<void> {
  const edits: Promise<unknown>[] = [];
  for (const [number, step] of steps.entries()) {
    const one = "client" in step ? clients[step.client] : undefined;
    switch (step.kind) {
      case "type":
        one?.type(step.text, clamp(step.at, one.text.length));
        break;
      case "erase": {
        const start = clamp(step.at, one?.text.length ?? 0);
        one?.document.getText("content.md").delete(start, clamp(step.length, one.text.length - start));
        break;
      }
      case "replace":
        one?.document.transact(() => {
          const all = one.document.getText("content.md");
          all.delete(0, clamp(step.at, all.length));
          all.insert(0, step.text);
          all.insert(0, "x");
          all.delete(0, 1);
        });
        break;
      case "toServer":
        one?.deliver(step.count);
        await turns(1);
        break;
      case "toClient":
        one?.take(step.count);
        break;
      case "ask":
        one?.ask();
        break;
      case "reconnect":
        one?.disconnect();
        break;
      case "whisper": {
        // Without the server, as between the tabs of a browser.
        const other = clients[step.to];
        if (one !== undefined && other !== undefined) Y.applyUpdate(other.document, Y.encodeStateAsUpdate(one.document), other);
        break;
      }
      case "edit":
        edits.push(
          rig.rooms
            .edit(articleId, { username: "api", kind: "key" }, 1000 + number, (document) => {
              const all = document.getText("content.md");
              all.insert(clamp(step.at, all.length), step.text);
            })
            .catch(() => undefined),
        );
        await turns(1);
        break;
      case "hold":
        rig.log.hold();
        break;
      case "release":
        await rig.log.release(step.count);
        break;
      case "fail":
        rig.log.failNext();
        break;
      case "wait":
        await rig.time.advance(step.ms);
        break;
    }
    for (const client of clients) {
      if (client.connection !== undefined && client.peer.closed === undefined) continue;
      client.disconnect();
      const reconnecting = client.connect();
      await rig.log.release(0);
      await Promise.race([reconnecting.catch(() => undefined), turns(4)]);
    }
  }
  await rig.log.release();
  await Promise.all(edits);
}

/** The document of the log, as another process would load it. */
function storedDocument(rig: Rig): Y.Doc {
  const document = new Y.Doc();
  document.getText("content.md");
  for (const { updates } of rig.log.batches(articleId)) for (const { update } of updates) Y.applyUpdate(document, update);
  return document;
}

async function reconnectAll(clients: readonly PairedClient[]): Promise<void> {
  await settle(clients);
  for (let again = true; again; ) {
    again = false;
    for (const client of clients) {
      if (client.connection !== undefined && client.peer.closed === undefined) continue;
      again = true;
      client.disconnect();
      await client.connect();
    }
    await settle(clients);
  }
}

/** Watches one client: content that the server sends or acknowledges must be in the log at that moment. */
function watch(rig: Rig, one: PairedClient, violations: string[]): void {
  let sent: Uint8Array[] = [];
  let asked: Uint8Array[][] = [];
  const send = one.send.bind(one);
  one.send = (frame) => {
    const sync = readSync(frame);
    if (sync?.step === 0) asked.push([...sent]);
    else if (sync !== undefined) sent.push(sync.payload);
    send(frame);
  };
  const disconnect = one.disconnect.bind(one);
  one.disconnect = () => {
    sent = [];
    asked = [];
    disconnect();
  };
  one.onServerFrame = (frame) => {
    const sync = readSync(frame);
    if (sync === undefined || sync.step === 0) return;
    const stored = new Set(rig.log.batches(articleId).flatMap(({ updates }) => updates.flatMap(({ update }) => factsOf(update))));
    // Violations are collected, because an exception in here would look like a failure of the store.
    violations.push(...factsOf(sync.payload).filter((fact) => !stored.has(fact)));
    if (sync.step !== 1) return;
    // Only content of the client's own client id: others send and confirm their own.
    const own = ` ${one.document.clientID}:`;
    for (const update of asked.shift() ?? []) {
      violations.push(...factsOf(update).filter((fact) => fact.includes(own) && !stored.has(fact)));
    }
  };
}

function readSync(frame: Uint8Array): { step: number; payload: Uint8Array } | undefined {
  const decoder = decoding.createDecoder(frame);
  if (decoding.readVarUint(decoder) !== 0) return undefined;
  return { step: decoding.readVarUint(decoder), payload: decoding.readVarUint8Array(decoder) };
}

/** Every character and every deletion in an update. */
function factsOf(update: Uint8Array): string[] {
  const { structs, ds } = Y.decodeUpdate(update);
  const facts: string[] = [];
  const add = (what: string, clientId: number, clock: number, length: number) => {
    for (let at = clock; at < clock + length; at += 1) facts.push(`${what} ${clientId}:${at}`);
  };
  for (const struct of structs) {
    if (struct instanceof Y.Skip) continue;
    add("written", struct.id.client, struct.id.clock, struct.length);
    if (struct instanceof Y.GC || struct.content instanceof Y.ContentDeleted) {
      add("deleted", struct.id.client, struct.id.clock, struct.length);
    }
  }
  for (const [clientId, ranges] of ds.clients) for (const { clock, len } of ranges) add("deleted", clientId, clock, len);
  return facts;
}

/** `readers` join besides the four clients of the history. They only read, so nothing brings them a frame that they missed. */
async function converges(steps: readonly Step[], nodes: number, limits: Partial<RoomLimits> = {}, readers = 0): Promise<void> {
  const rig = createRealtimeRig({ nodes, limits });
  try {
    const clients: PairedClient[] = [];
    const violations: string[] = [];
    for (const [at, name] of names.entries()) {
      const one = await rig.join(name, { node: at % nodes });
      watch(rig, one, violations);
      one.disconnect();
      clients.push(await one.connect());
    }
    for (let at = 0; at < readers; at += 1) clients.push(await rig.join(`reader${at}`, { mayWrite: false }));
    await play(rig, clients, steps);
    await reconnectAll(clients);
    // The last sync steps 1 are sent within this time and recover lost frames.
    for (let round = 0; round < 4; round += 1) {
      await rig.time.advance(300);
      await reconnectAll(clients);
    }
    const [first] = clients;
    for (const client of clients) expect(client.text).toBe(first?.text);
    expect(await rig.liveText()).toBe(first?.text);
    expect(storedDocument(rig).getText("content.md").toString()).toBe(first?.text);
    expect(violations).toEqual([]);
    expect(clients.flatMap((client) => client.denied)).toEqual([]);
  } finally {
    rig.close();
  }
}

it("[RT1] [RT2] [RT3] [RT22] random histories converge, and only stored content is shown or confirmed", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), fc.integer({ min: 1, max: 2 }), (steps, nodes) =>
      converges(steps, nodes),
    ),
    { numRuns: toRuns(100), examples: [...onceFailed.map((steps): [Step[], number] => [steps, 1]), [onceFailedOnTwoNodes, 2]] },
  );
});

it("[RT42] random histories converge when no, or almost no, pending updates are kept", { timeout: 120_000 }, async () => {
  // Without "whisper": text that a client did not get from the server can stay missing, and updates that build on it are refused.
  const alone = step.filter(({ kind }) => kind !== "whisper");
  const pending = fc.constantFrom(0, 2048);
  await fc.assert(
    fc.asyncProperty(fc.array(alone, { minLength: 10, maxLength: 60 }), fc.integer({ min: 1, max: 2 }), pending, (steps, nodes, bytes) =>
      converges(steps, nodes, { "document.pending": bytes }),
    ),
    { numRuns: toRuns(100) },
  );
});

it("[RT1] [RT96] random histories converge in a room so large that most members get frames by its topic", {
  timeout: 120_000,
}, async () => {
  // Pauses in which authors return to the topic.
  const long = fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 500, max: 3000 }) });
  const paced = fc.oneof({ weight: 8, arbitrary: step }, { weight: 1, arbitrary: long });
  await fc.assert(
    fc.asyncProperty(fc.array(paced, { minLength: 10, maxLength: 60 }), (steps) => converges(steps, 1, {}, 14)),
    { numRuns: toRuns(50) },
  );
});
