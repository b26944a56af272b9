import { describe, expect, test } from "vitest";
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
