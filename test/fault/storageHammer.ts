/**
 * Writes to a store without a pause and reports what was acknowledged. Each commit writes its serial number to a
 * record, two logs, a pair of twin logs, an index, a count and the due queue, so that an incomplete commit is visible.
 */
import { createHash } from "node:crypto";
import type { Storage, Stored } from "../../server/platform/storage/port.ts";
import { append, bytes, type Item, itemType, put } from "../contract/storageTypes.ts";

export const partitions = [20, 21, 22];
const inFlight = 24;
const keptEntries = 600;

export interface Acknowledged {
  readonly serial: number;
  /** Positions of the last entries in the logs `a` and `b`. */
  readonly a: number;
  readonly b: number;
  /** Position of the last entry in its own log, which is a twin of `all`. */
  readonly own: number;
  readonly trimmedTo?: number;
}

/** Content of one line on stdout. */
export type Report =
  | { readonly commit: Acknowledged }
  /** Revision of the chain record of a partition. */
  | { readonly chain: number; readonly revision: number }
  /** Number of steps on the log that is dropped repeatedly. */
  | { readonly steps: number }
  /** Length of the log that `typeAlone` writes. */
  | { readonly typed: number };

export const partitionOf = (serial: number) => 20 + (serial % 3);
/** Every serial is in one of these logs and in their twin `all`, once or twice. */
export const ownLog = (serial: number) => `own ${serial % 4}`;
export const twinWords = (serial: number) => (serial % 5 === 0 ? [`${serial}`, `${serial}+`] : [`${serial}`]);
export const recordId = (serial: number) => `${partitionOf(serial)}/r${serial}`;
export const dueId = (serial: number) => `due ${serial}`;
export const blobOf = (serial: number) => Buffer.from(`blob ${serial} `.repeat(50));
export const toSha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
export const hasBlob = (serial: number) => serial % 16 === 0;

/** Returns the entries of the log `t` after this number of steps: five appends of one entry, then a drop. */
export function afterSteps(steps: number): readonly string[] {
  return Array.from({ length: steps % 6 }, (_, at) => `t${steps - (steps % 6) + at + 1}`);
}

/** Each line is flushed before its writer continues, so a kill loses at most one line. */
const report = (line: Report) => new Promise<unknown>((written) => process.stdout.write(`${JSON.stringify(line)}\n`, written));

/** Name and entries of the log that `typeAlone` writes: each entry is its own position. */
export const typedLog = "typed";

/**
 * Appends to one log, one entry at a time, as a room does for keystrokes. Some commits also write a record, so that groups of
 * log writes are stored in both places of the embedded store.
 */
export async function typeAlone(storage: Storage): Promise<never> {
  for (;;) {
    const next = (await storage.log.tail(20, typedLog)) + 1;
    const item = { id: `20/typed ${next}`, text: `${next}` };
    const records = next % 37 === 0 ? { records: [put(item)] } : {};
    const result = await storage.commit({ partition: 20, logs: [append(typedLog, `${next}`)], ...records });
    if (!result.ok) throw new Error(`entry ${next} met a conflict`);
    await report({ typed: next });
  }
}

export async function hammer(storage: Storage, firstSerial: number): Promise<never> {
  let next = firstSerial;

  async function commitOne(): Promise<void> {
    const serial = next++;
    const partition = partitionOf(serial);
    const blobs = hasBlob(serial) ? [await storage.blobs.put(partition, blobOf(serial))] : [];
    const item = { id: recordId(serial), text: `text ${serial}`, keys: [["s", serial]], groups: ["g"], name: `n${serial}`, blobs };
    const through = (await storage.log.tail(partition, "a")) - keptEntries;
    const trims = serial % 7 === 0 && through > 0;
    const result = await storage.commit({
      partition,
      records: [put(item)],
      logs: [
        append("a", `${serial}`, `${serial}+`),
        append("b", `${serial}`),
        { op: "append", log: ownLog(serial), twin: "all", entries: twinWords(serial).map(bytes) },
        ...(trims ? [{ op: "trim", log: "a", through } as const] : []),
      ],
      due: [{ op: "schedule", row: { id: dueId(serial), kind: "k", dueAtMs: 9e12 + serial, payload: serial, attempts: 0 } }],
    });
    if (!result.ok) throw new Error(`serial ${serial} met a conflict`);
    const [a = 0, b = 0, own = 0] = result.positions;
    await report({ commit: { serial, a, b, own, ...(trims ? { trimmedTo: through } : {}) } });
  }

  async function chain(partition: number): Promise<never> {
    const id = `${partition}/chain`;
    for (;;) {
      const current: Stored<Item> | undefined = await storage.records.get(itemType, id);
      const text = String((current?.revision ?? 0) + 1);
      const result = await storage.commit({ partition, records: [put({ id, text, groups: ["chain"] }, current ?? null)] });
      if (!result.ok) throw new Error("a chain met a conflict");
      await report({ chain: partition, revision: result.revisions[0] ?? 0 });
    }
  }

  async function dropAgain(): Promise<never> {
    const tail = await storage.log.tail(20, "t");
    const read = await storage.log.read({ partition: 20, log: "t", after: 0, limit: 9 });
    const last = read.gap || tail === 0 ? undefined : read.entries.at(-1);
    // Continue where an earlier process was killed. An empty log starts a new group of six steps.
    for (let steps = last === undefined ? firstSerial * 6 : Number(Buffer.from(last.bytes).toString().slice(1)); ; ) {
      steps += 1;
      const step = steps % 6 === 0 ? ({ op: "drop", log: "t" } as const) : append("t", `t${steps}`);
      await storage.commit({ partition: 20, logs: [step] });
      await report({ steps });
    }
  }

  const writer = async (): Promise<never> => {
    for (;;) await commitOne();
  };
  return Promise.race([...Array.from({ length: inFlight }, writer), ...partitions.map(chain), dropAgain()]);
}
