/** The wall clock of one node. A test can set it wrong, before a start and while the node runs. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Settings } from "../../support/server.ts";

export interface WallClock {
  /** Settings with which a node uses this clock. */
  readonly settings: Settings;
  /** Error of the clock in milliseconds. */
  readonly shiftMs: number;
  /** Changes the error. For a running process, the clock jumps. */
  set(shiftMs: number): void;
  /** Resolves when the process uses the last value. */
  untilSeen(pid: number): Promise<void>;
  remove(): void;
}

const preload = new URL("./shiftedClock.mjs", import.meta.url);
const patienceMs = 10_000;

export function createWallClock(): WallClock {
  const folder = mkdtempSync(join(tmpdir(), "svc-wall-"));
  const file = join(folder, "shift-ms");
  let shiftMs = 0;
  function set(ms: number): void {
    shiftMs = ms;
    // A reader gets either the old number or the new one.
    writeFileSync(`${file}.next`, String(ms));
    renameSync(`${file}.next`, file);
  }
  set(0);
  return {
    settings: { NODE_OPTIONS: `--import ${preload.href}`, WALL_SHIFT_FILE: file },
    get shiftMs() {
      return shiftMs;
    },
    set,
    async untilSeen(pid) {
      for (const endMs = performance.now() + patienceMs; readFileSync(`${file}.seen`, "utf8") !== `${pid} ${shiftMs}`; await pause(5)) {
        if (performance.now() > endMs) throw new Error("the node never looked at its clock");
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
