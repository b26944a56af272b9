/** Sync answers while the room is not settled. */
import { expect, test } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
import { createManualTime } from "../../test/support/manualTime.ts";
import { SyncAnswers } from "./syncAnswers.ts";

function createRig() {
  const time = createManualTime();
  const waiting: (() => void)[] = [];
  const answered: number[] = [];
  let isOpen = true;
  const answers = new SyncAnswers({
    room: {
      whenSettled: (run) => void waiting.push(run),
      encodeAnswer(stateVector) {
        answered.push(stateVector[0] ?? 0);
        return { update: stateVector };
      },
    },
    clock: { now: time.now, after: time.after },
    limits: defaultLimits,
    isOpen: () => isOpen,
    bufferedBytes: () => 0,
    deliver: () => {},
    sendPresence: () => {},
  });
  const close = () => {
    isOpen = false;
  };
  return { answers, waiting, answered, close, settle: () => waiting.splice(0).map((run) => run()) };
}

test("[RT80] a socket keeps at most two state vectors waiting while the room is not settled", () => {
  const { answers, waiting, answered, settle } = createRig();
  for (let at = 1; at <= 1000; at += 1) {
    answers.requestSync(Uint8Array.of(at % 200));
    answers.requestPresence();
  }
  expect(waiting.length).toBeLessThanOrEqual(2);
  settle();
  expect(answered).toEqual([1]);
  settle();
  expect(answered).toEqual([1, 1000 % 200]);
  settle();
  expect(waiting).toEqual([]);
  answers.requestSync(Uint8Array.of(7));
  settle();
  expect(answered.at(-1)).toBe(7);
});

test("[RT80] a socket that closes while a state vector waits gets no answer", () => {
  const { answers, answered, close, settle } = createRig();
  answers.requestSync(Uint8Array.of(1));
  answers.requestSync(Uint8Array.of(2));
  close();
  settle();
  settle();
  expect(answered).toEqual([]);
});
