import { afterEach, describe, expect, test, vi } from "vitest";
import { createGroupCommit, type Transactions } from "./groupCommit.ts";

/** Creates transactions that end when the test decides. */
function createTransactions() {
  const events: string[] = [];
  const waiting: ((error?: Error) => void)[] = [];
  const transactions: Transactions = {
    dirty: false,
    async run(work) {
      // LMDB also starts the work in a later turn.
      await new Promise((resolve) => setImmediate(resolve));
      work();
      await new Promise<void>((resolve, reject) => waiting.push((error) => (error === undefined ? resolve() : reject(error))));
    },
    begin: () => void events.push("begin"),
    end: () => void events.push("end"),
    committed: () => void events.push("committed"),
    async failed(reason) {
      events.push("failed");
      return new Error("refused", { cause: reason });
    },
  };
  const underWay = async () => {
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    return waiting.shift() as (error?: Error) => void;
  };
  return { transactions, events, underWay };
}

afterEach(() => void vi.useRealTimers());

describe("group commit", () => {
  test("[ST1] jobs that arrive during a transaction share the next one, in order", async () => {
    const { transactions, events, underWay } = createTransactions();
    const group = createGroupCommit(transactions);
    const order: number[] = [];
    const first = group.run(() => order.push(1));
    const end = await underWay();
    const later = [2, 3, 4].map((number) => group.run(() => order.push(number)));
    expect(order).toEqual([1]);
    end();
    expect(await first).toBe(1);
    (await underWay())();
    expect(await Promise.all(later)).toEqual([2, 3, 4]);
    expect(order).toEqual([1, 2, 3, 4]);
    expect(events).toEqual(["begin", "end", "committed", "begin", "end", "committed"]);
    await group.idle();
  });

  test("[ST1] nothing is acknowledged before its transaction is durable", async () => {
    const { transactions, underWay } = createTransactions();
    const group = createGroupCommit(transactions);
    let acknowledged = false;
    const job = group.run(() => "done").then(() => (acknowledged = true));
    const end = await underWay();
    await new Promise((resolve) => setImmediate(resolve));
    expect(acknowledged).toBe(false);
    end();
    await job;
    expect(acknowledged).toBe(true);
  });

  test("[ST1] a job that throws before it wrote fails alone; after that it fails the transaction", async () => {
    const { transactions, events, underWay } = createTransactions();
    const group = createGroupCommit(transactions);
    const clean = group.run(() => {
      throw new Error("clean");
    });
    const beside = group.run(() => "kept");
    (await underWay())();
    await expect(clean).rejects.toThrow("clean");
    expect(await beside).toBe("kept");
    const dirty = group.run(() => {
      transactions.dirty = true;
      throw new Error("dirty");
    });
    const lost = group.run(() => "lost");
    await expect(dirty).rejects.toThrow("refused");
    await expect(lost).rejects.toThrow("refused");
    expect(events.at(-1)).toBe("failed");
  });

  /** Moves only timers and the clock by hand; turns of the event loop pass. */
  async function startWithPause() {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const parts = createTransactions();
    const group = createGroupCommit(parts.transactions, 3);
    const begun = () => parts.events.filter((event) => event === "begin").length;
    const pass = async (ms: number) => {
      vi.advanceTimersByTime(ms);
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    // The first job starts at once, and its transaction takes 1 ms.
    const first = group.run(() => undefined, true);
    await pass(0);
    expect(begun()).toBe(1);
    await pass(1);
    (await parts.underWay())();
    await first;
    return { ...parts, group, begun, pass };
  }

  test("[ST95] jobs that may wait share a transaction that starts 3 ms after the start of the last one", async () => {
    const { group, begun, pass, underWay } = await startWithPause();
    const jobs = [group.run(() => 1, true)];
    await pass(1);
    jobs.push(group.run(() => 2, true));
    expect(begun()).toBe(1);
    await pass(1);
    expect(begun()).toBe(2);
    (await underWay())();
    expect(await Promise.all(jobs)).toEqual([1, 2]);
    // After a pause in the traffic, a job starts at once.
    await pass(3);
    const lone = group.run(() => 3, true);
    await pass(0);
    expect(begun()).toBe(3);
    (await underWay())();
    expect(await lone).toBe(3);
  });

  test("[ST95] a job that must not wait starts at once, and takes the waiting jobs with it", async () => {
    const { group, begun, pass, underWay } = await startWithPause();
    const waiting = group.run(() => "waiting", true);
    await pass(0);
    expect(begun()).toBe(1);
    const urgent = group.run(() => "urgent");
    await pass(0);
    expect(begun()).toBe(2);
    (await underWay())();
    expect(await Promise.all([waiting, urgent])).toEqual(["waiting", "urgent"]);
    const alone = group.run(() => "alone");
    await pass(0);
    expect(begun()).toBe(3);
    (await underWay())();
    expect(await alone).toBe("alone");
  });

  test("[ST95] a job that arrives during a longer transaction waits only until that transaction has ended", async () => {
    const { group, begun, pass, underWay } = await startWithPause();
    const long = group.run(() => "long");
    await pass(0);
    const end = await underWay();
    const next = group.run(() => "next", true);
    await pass(4);
    expect(begun()).toBe(2);
    end();
    await pass(0);
    expect(begun()).toBe(3);
    (await underWay())();
    expect(await Promise.all([long, next])).toEqual(["long", "next"]);
  });

  test("[ST19] a failed transaction fails its own jobs, and the next one runs", async () => {
    const { transactions, underWay } = createTransactions();
    const group = createGroupCommit(transactions);
    const refused = [1, 2].map((number) => group.run(() => number));
    const settled = Promise.allSettled(refused);
    const end = await underWay();
    const next = group.run(() => 3);
    end(new Error("no space"));
    expect((await settled).map((result) => result.status)).toEqual(["rejected", "rejected"]);
    (await underWay())();
    expect(await next).toBe(3);
  });
});
