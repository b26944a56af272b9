/** The Redis commit runs the script of each commit and converts the script's answer to the result types of the storage port. */
import { fromByteText } from "../orderedKey.ts";
import type { Batch, CommitResult, Conflict } from "../port.ts";
import type { RecordTypes } from "../recordType.ts";
import { conflict, retryOnConflict } from "../retryOnConflict.ts";
import type { Calls } from "./commands.ts";
import { layOut, type PlannedRecord, toPlannedRecords } from "./commitLayout.ts";
import type { Reply } from "./connection.ts";
import { redisScripts } from "./scripts.ts";

const byteText = (reply: Reply | undefined) => (reply as Buffer).toString("latin1");

/** True if the batch only removes data. Such a batch is also accepted when memory is full, so that memory can be freed. */
function isFreeing({ records = [], logs = [], due = [] }: Batch): boolean {
  return (
    records.every(({ op }) => op === "delete") &&
    logs.every(({ op }) => op !== "append") &&
    due.every(({ op }) => op !== "schedule" && op !== "arm")
  );
}

function toConflict(batch: Batch, records: readonly PlannedRecord[], kind: string, rest: readonly Reply[]): Conflict {
  switch (kind) {
    case "record": {
      const record = records[Number(rest[0]) - 1] as PlannedRecord;
      return { kind: "record", type: record.write.type.name, key: record.key };
    }
    case "required": {
      const requirement = batch.require?.[Number(rest[0])];
      if (requirement?.kind !== "revision") throw new Error("the commit script names a requirement that is not there");
      return { kind: "record", type: requirement.type.name, key: requirement.key };
    }
    case "fence":
      return { kind: "fence", lease: (rest[0] as Buffer).toString() };
    case "due":
      return { kind: "due", id: fromByteText(byteText(rest[0])) };
    case "tail":
      return { kind: "tail", log: fromByteText(byteText(rest[0])) };
    default:
      throw new Error(`the commit script answers "${kind}"`);
  }
}

export function createCommit(options: {
  readonly calls: Calls;
  readonly recordTypes: RecordTypes | undefined;
  readonly now: () => number;
}): (batch: Batch) => Promise<CommitResult> {
  const { calls, recordTypes, now } = options;
  return (batch) => {
    const { partition } = batch;
    const records = toPlannedRecords(batch, recordTypes);
    const script = isFreeing(batch) ? redisScripts.commitFreeing : redisScripts.commit;
    // A repeat means that the script returned stored rows which differ from the caller's copies. The rows may change
    // again before the next try.
    return retryOnConflict("redis.commit", async () => {
      const { keys, args, rules } = layOut(batch, records, now());
      const [kind, ...rest] = (await calls.run({ partition, script, keys, args, replicated: true })) as readonly [Reply, ...Reply[]];
      const answer = byteText(kind);
      if (answer === "ok") {
        const revisions = records.map(({ write }) => (write.op === "put" ? (write.replacing?.revision ?? 0) + 1 : 0));
        return { ok: true, positions: rest.map(Number), revisions };
      }
      if (answer === "blob") throw new Error(`a batch names the blob ${byteText(rest[0])}, which was not put`);
      if (answer === "unique") {
        const rule = rules.get(byteText(rest[0]));
        if (rule === undefined) throw new Error("the commit script names a rule that is not there");
        const holder = byteText(rest[1]);
        return { ok: false, conflict: { kind: "unique", rule, key: fromByteText(holder.slice(holder.indexOf("\x00") + 1)) } };
      }
      if (answer !== "stale") return { ok: false, conflict: toConflict(batch, records, answer, rest) };
      for (let at = 0; at < rest.length; at += 2) {
        const record = records[Number(rest[at]) - 1] as PlannedRecord;
        record.stored = (rest[at + 1] as Buffer).toString();
      }
      return conflict;
    });
  };
}
