/** Tests the regroup in single steps, with commits between its slices. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LmdbReader, openLmdb } from "./database.ts";
import { Journal } from "./journal.ts";
import { groupKey, LmdbLog } from "./log.ts";
import { Regroup } from "./regroup.ts";
import { StagedMap } from "./stagedMap.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "regroup-"));
});
afterEach(() => rm(directory, { recursive: true }));

/** Opens the parts of a store. `commit` runs one transaction, as the writer does. */
function open() {
  const db = openLmdb(directory);
  const reader = new LmdbReader(db);
  const log = new LmdbLog(reader);
  const staged = new StagedMap(reader);
  const journal = new Journal(directory, reader);
  const regroup = new Regroup(staged, log, journal);
  log.replay([], journal.isOpen);
  return {
    log,
    regroup,
    async commit(work: () => void) {
      work();
      const group = log.encode(false);
      if (group !== undefined) staged.putBytes(groupKey(log.lastGroup + 1), group);
      await staged.write(db);
      staged.clear();
      reader.renew();
      log.committed(regroup.committed());
    },
    async close() {
      reader.close();
      await db.close();
    },
  };
}

async function openLog() {
  const store = open();
  const { log, regroup, commit } = store;
  return {
    startRegroup: () => regroup.start(),
    append: (...entries: string[]) => {
      const bytes = entries.map((entry) => Buffer.from(entry));
      return commit(() => log.append(7, "l", bytes));
    },
    drop: () => commit(() => log.drop(7, "l")),
    async endRegroup() {
      while (regroup.running) await commit(() => regroup.write());
    },
    /** Opens the store again. Returns the tail of the log and closes the store. */
    async reopen() {
      await store.close();
      const again = open();
      const found = again.log.tail(7, "l");
      await again.close();
      return found;
    },
  };
}

// The regroup ends while the groups of the last two commits are still stored.
test("[ST13] a log that is written and dropped while its first regroup runs is empty after a restart", async () => {
  const { append, drop, startRegroup, endRegroup, reopen } = await openLog();
  await append("1", "2", "3");
  startRegroup();
  await append("4");
  await drop();
  await endRegroup();
  expect(await reopen()).toBe(0);
});

test("[ST13] a log that was dropped, and is dropped again while a regroup runs, is empty after a restart", async () => {
  const { append, drop, startRegroup, endRegroup, reopen } = await openLog();
  await append("1");
  await drop();
  startRegroup();
  await endRegroup();
  await append("1", "2", "3");
  startRegroup();
  await append("4");
  await drop();
  await endRegroup();
  expect(await reopen()).toBe(0);
});
