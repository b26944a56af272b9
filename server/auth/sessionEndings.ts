/**
 * Ends the sessions of an account that its record has left behind (`sessionEpoch`).
 *
 * The account's own commit raises the epoch, which alone ends them for every request. Deleting their records
 * and stating the facts, so that open sockets close too, joins that commit; whatever was born in between is
 * swept right after.
 */
import { partitionOfId } from "../ids.ts";
import type { LogWrite, RecordWrite, Storage } from "../storage/port.ts";
import { accessFactWrite } from "./accessFacts.ts";
import { type SessionRecord, sessionRecord } from "./records.ts";

const maxAtOnce = 1_000;

export interface SessionEndings {
  readonly alongside: { readonly records: readonly RecordWrite[]; readonly logs: readonly LogWrite[] };
  readonly endedIds: readonly string[];
}

/** Writes for the commit that sets `epoch`; the session `keepId`, if given, moves on to that epoch. */
export async function toSessionEndings(
  storage: Pick<Storage, "index" | "records">,
  accountId: string,
  epoch: number,
  keepId?: string,
): Promise<SessionEndings> {
  const rows = await storage.index.scan({
    partition: partitionOfId(accountId),
    prefix: ["session.account", accountId],
    limit: maxAtOnce,
  });
  const sessions = await storage.records.getMany(
    sessionRecord,
    rows.map((row) => row.target),
  );
  const records: RecordWrite<SessionRecord>[] = [];
  const endedIds: string[] = [];
  for (const replacing of sessions) {
    if (replacing === undefined || replacing.value.epoch >= epoch) continue;
    if (replacing.value.sessionId === keepId) {
      records.push({ op: "put", type: sessionRecord, value: { ...replacing.value, epoch }, replacing });
      continue;
    }
    records.push({ op: "delete", type: sessionRecord, replacing });
    endedIds.push(replacing.value.sessionId);
  }
  const logs = endedIds.map((sessionId) => accessFactWrite({ kind: "session.ended", sessionId }));
  return { alongside: { records: records as RecordWrite[], logs }, endedIds };
}

/** Deletes what is left of sessions before `epoch`; call it after the commit that set the epoch. */
export async function sweepSessions(
  storage: Pick<Storage, "index" | "records" | "commit">,
  accountId: string,
  epoch: number,
): Promise<void> {
  for (;;) {
    const { alongside, endedIds } = await toSessionEndings(storage, accountId, epoch);
    if (endedIds.length === 0) return;
    await storage.commit({ partition: partitionOfId(accountId), ...alongside });
  }
}
