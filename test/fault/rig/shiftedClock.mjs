/**
 * Shifts the wall clock of a node of the rig. The node loads this module before anything else (`NODE_OPTIONS=--import`).
 * Its wall clock is then wrong by the number of milliseconds in the file `WALL_SHIFT_FILE`, as soon as the file has it.
 * The monotonic clock, and so every timer, does not change. The value in use is written to a file next to that one, so
 * that a test can wait for it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env.WALL_SHIFT_FILE;
const lookEveryMs = 5;
const TrueDate = globalThis.Date;
let shiftMs;

function look() {
  const readMs = Number(readFileSync(file, "utf8"));
  if (readMs === shiftMs) return;
  shiftMs = readMs;
  if (isMainThread) writeFileSync(`${file}.seen`, `${process.pid} ${shiftMs}`);
}

const now = () => TrueDate.now() + shiftMs;
const ShiftedDate = new Proxy(TrueDate, {
  apply: () => new TrueDate(now()).toString(),
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget === ShiftedDate ? target : newTarget),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});

look();
setInterval(look, lookEveryMs).unref();
globalThis.Date = ShiftedDate;
