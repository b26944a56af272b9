/**
 * This module ends the sessions of an account whose epoch is older than the account's `sessionEpoch`.
 *
 * The commit of the account increases the epoch, and this alone ends the sessions for every request. The same commit
 * also deletes the session records and writes the facts that close open sockets. Sessions created in between are
 * deleted right after that commit.
 */
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { LogWrite, RecordWrite, Storage } from "../../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../../platform/storage/retryOnConflict.ts";
import { accessFactWrite } from "./accessFacts.ts";
import { type SessionRecord, sessionRecord } from "./credentialRecords.ts";

const maxAtOnce = 1_000;

export interface SessionEndings {
  readonly extraWrites: { readonly records: readonly RecordWrite[]; readonly logs: readonly LogWrite[] };
  readonly endedIds: readonly string[];
}

/**
 * Returns the writes for the commit that sets `epoch`. The session `keepId`, if given, moves to that epoch and stays
 * valid.
 */
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
  return { extraWrites: { records: records as RecordWrite[], logs }, endedIds };
}

/** Deletes the remaining sessions of epochs before `epoch`. Call it after the commit that set the epoch. */
export async function sweepSessions(
  storage: Pick<Storage, "index" | "records" | "commit">,
  accountId: string,
  epoch: number,
): Promise<void> {
  const sweepPage = () =>
    retryOnConflict("session.sweep", async () => {
      const { extraWrites, endedIds } = await toSessionEndings(storage, accountId, epoch);
      if (endedIds.length === 0) return "done";
      const result = await storage.commit({ partition: partitionOfId(accountId), ...extraWrites });
      return result.ok ? "more" : conflict;
    });
  while ((await sweepPage()) === "more");
}
