/** Tests a feed on a log, a bus and a clock that the test controls. */
import { expect, test } from "vitest";
import type { ArticleSignal } from "../../../api/schema/articleEvent.ts";
import type { AgentEvent } from "../../../api/schema/timeline.ts";
import { createManualTime } from "../../../test/support/manualTime.ts";
import { StorageUnavailableError } from "../../platform/storage/port.ts";
import type { SignalItem, StreamEvent } from "./port.ts";
import type { StreamFormat } from "./streamFormat.ts";
import { type FeedMember, TimelineFeed } from "./timelineFeed.ts";
import type { SharedItem, TimelinePage } from "./timelinePage.ts";

const pageSize = 100;

function createRig({ recentBytes = 1000 } = {}) {
  const time = createManualTime();
  const listeners = new Set<() => void>();
  const rig = {
    tail: 0,
    firstKept: 1,
    looks: 0,
    reads: 0,
    decoded: 0,
    encoded: 0,
    overChecks: 0,
    isSilent: false,
    isBroken: false,
    isOver: false,
    watches: 0,
  };
  let show: (item: SignalItem) => void = () => {};
  /** Reads wait for this promise. */
  let held: Promise<void> = Promise.resolve();
  const feed = new TimelineFeed({
    source: {
      log: "run/1",
      toItem({ position }) {
        rig.decoded += 1;
        return { kind: "event", token: String(position), event: { seq: position } as AgentEvent };
      },
      toToken: String,
      snapshot: async () => ({ snapshot: {}, tail: rig.tail }),
      async isOver() {
        rig.overChecks += 1;
        return rig.isOver;
      },
      watch(listener) {
        rig.watches += 1;
        show = listener;
        return () => {
          rig.watches -= 1;
        };
      },
    },
    clock: time,
    subscribe(_topic, listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async tail() {
      rig.looks += 1;
      if (rig.isSilent) throw new StorageUnavailableError("the store does not answer");
      return rig.tail;
    },
    async read(after) {
      rig.reads += 1;
      const { tail, firstKept } = rig;
      await held;
      if (rig.isBroken) throw new StorageUnavailableError("the store does not answer");
      if (after + 1 < firstKept) return { gap: true, firstKept, tail };
      const count = Math.max(0, Math.min(pageSize, tail - after));
      const entries = Array.from({ length: count }, (_, at) => ({ position: after + at + 1, bytes: new Uint8Array(10) }));
      return { gap: false, entries, tail };
    },
    recentBytes,
  });
  const format: StreamFormat = {
    head: new Uint8Array(),
    keepAlive: new Uint8Array(),
    encode(item) {
      rig.encoded += 1;
      return Buffer.from(item.kind === "event" ? `${item.token} ` : item.kind);
    },
  };
  return Object.assign(rig, {
    time,
    feed,
    listeners,
    signal: () => show({ kind: "signal", event: { event: "document.live" } as ArticleSignal }),
    announce() {
      for (const listener of listeners) listener();
    },
    /** Holds every read until the returned function is called. */
    hold(): () => void {
      let go = () => {};
      held = new Promise((resolve) => {
        go = resolve;
      });
      return go;
    },
    /** Reads up to the end of the log and joins. Returns what the member hears, as text. */
    async join(position: number, keeps?: (event: StreamEvent) => boolean) {
      const member = {
        position,
        text: "",
        calls: [] as string[],
        bytes: [] as Uint8Array[],
        take(page: TimelinePage) {
          const selected = page.select(member.position, format, keeps);
          member.position = Math.max(member.position, page.last);
          if (selected === undefined) return;
          member.text += Buffer.from(selected.bytes);
          member.bytes.push(selected.bytes);
        },
        deliver: (page: TimelinePage) => member.take(page),
        show: (signal: SharedItem) => void member.bytes.push(signal.encoded(format)),
        finish: () => void member.calls.push("finish"),
        lose: () => void member.calls.push("lose"),
        fail: (reason: unknown) => void member.calls.push((reason as Error).name),
      } satisfies FeedMember & Record<string, unknown>;
      while (!feed.join(member)) {
        const page = await feed.read(member.position);
        if (page === "lost") throw new Error("the log does not have this position");
        member.take(page);
        if (member.position < page.tail) continue;
        if (await feed.isOverAt(member.position)) throw new Error("the timeline is over");
      }
      return member;
    },
  });
}

test("[SE12] the bus wakes waiting viewers at once; if the bus is silent, a poll does within a second", async () => {
  const rig = createRig();
  const member = await rig.join(0);
  rig.tail = 1;
  rig.announce();
  await rig.time.advance(0);
  expect(member.text).toBe("1 ");
  rig.tail = 2;
  await rig.time.advance(999);
  expect(member.text).toBe("1 ");
  await rig.time.advance(1);
  expect(member.text).toBe("1 2 ");
});

test("[SE12] all viewers of a log share one poll per second", async () => {
  const rig = createRig();
  for (let at = 0; at < 50; at += 1) await rig.join(0);
  await rig.time.advance(5000);
  expect([rig.looks, rig.listeners.size]).toEqual([5, 1]);
});

test("[SE12] a failed poll is repeated, and an announcement that arrives during a poll is not lost", async () => {
  const rig = createRig();
  const member = await rig.join(0);
  rig.isSilent = true;
  rig.tail = 1;
  rig.announce();
  await rig.time.advance(2000);
  expect([member.text, member.calls]).toEqual(["", []]);
  rig.isSilent = false;
  await rig.time.advance(1000);
  expect(member.text).toBe("1 ");
  const go = rig.hold();
  rig.tail = 2;
  rig.announce();
  await rig.time.advance(0);
  rig.tail = 3;
  rig.announce();
  go();
  await rig.time.advance(0);
  expect(member.text).toBe("1 2 3 ");
});

test("[SE12] an announcement that arrives while a viewer joins is not lost", async () => {
  const rig = createRig();
  const go = rig.hold();
  const joining = rig.join(0);
  await rig.time.advance(0);
  rig.tail = 1;
  rig.announce();
  go();
  expect((await joining).text).toBe("1 ");
});

test("[SE63] the feed reads, decodes and encodes each event once, however many viewers there are", async () => {
  const rig = createRig();
  const members = [];
  for (let at = 0; at < 1000; at += 1) members.push(await rig.join(0));
  Object.assign(rig, { reads: 0, overChecks: 0 });
  for (let tail = 1; tail <= 20; tail += 1) {
    rig.tail = tail;
    rig.announce();
    await rig.time.advance(0);
  }
  rig.tail = 250;
  rig.announce();
  await rig.time.advance(0);
  const all = Array.from({ length: 250 }, (_, at) => `${at + 1} `).join("");
  for (const { text } of members) expect(text).toBe(all);
  expect([rig.decoded, rig.encoded]).toEqual([250, 250]);
  expect([rig.reads, rig.overChecks]).toEqual([23, 21]);
  for (const { bytes } of members) for (const [at, piece] of bytes.entries()) expect(piece).toBe(members[0]?.bytes[at]);
});

test("[SE63] filtered viewers share the bytes of each event, and get their events alone", async () => {
  const rig = createRig();
  const odd = await rig.join(0, (event) => "seq" in event && event.seq % 2 === 1);
  const all = await rig.join(0);
  rig.tail = 5;
  rig.announce();
  await rig.time.advance(0);
  expect([odd.text, all.text, odd.position, rig.encoded]).toEqual(["1 3 5 ", "1 2 3 4 5 ", 5, 5]);
});

test("[SE64] a page that was read lately serves every viewer at its place, and goes after two seconds", async () => {
  const rig = createRig();
  const member = await rig.join(0);
  for (rig.tail = 1; rig.tail <= 10; rig.tail += 1) {
    rig.announce();
    await rig.time.advance(0);
  }
  rig.tail = 10;
  rig.reads = 0;
  const busy = await rig.join(4);
  expect([busy.text, rig.reads, member.position]).toEqual(["5 6 7 8 9 10 ", 0, 10]);
  await rig.time.advance(2000);
  const [late, later] = [await rig.join(4), await rig.join(4)];
  expect([late.text, later.text, rig.reads]).toEqual(["5 6 7 8 9 10 ", "5 6 7 8 9 10 ", 1]);
});

test("[SE64] viewers that all begin at the start share one read, also while none of them follows the log", async () => {
  const rig = createRig();
  rig.tail = 30;
  const members = [];
  for (let at = 0; at < 100; at += 1) members.push(await rig.join(0));
  expect([rig.reads, rig.encoded]).toEqual([1, 30]);
  for (const member of members) rig.feed.leave(member);
  await rig.time.advance(2000);
  await rig.join(0);
  expect(rig.reads).toBe(2);
});

test("[SE64] at most sse.buffer bytes of lately read pages are kept", async () => {
  const rig = createRig({ recentBytes: 30 });
  await rig.join(0);
  for (rig.tail = 1; rig.tail <= 10; rig.tail += 1) {
    rig.announce();
    await rig.time.advance(0);
  }
  rig.tail = 10;
  rig.reads = 0;
  expect([(await rig.join(7)).text, rig.reads]).toEqual(["8 9 10 ", 0]);
  expect([(await rig.join(6)).text, rig.reads]).toEqual(["7 8 9 10 ", 1]);
});

test("[SE13] while no viewer reads, the feed reads nothing, and the first that reads again misses nothing", async () => {
  const rig = createRig();
  const member = await rig.join(0);
  rig.feed.leave(member);
  rig.reads = 0;
  rig.tail = 500;
  rig.announce();
  await rig.time.advance(10_000);
  expect([rig.reads, rig.looks]).toEqual([0, 0]);
  expect((await rig.join(member.position)).position).toBe(500);
});

test("[SE4] if the store lost entries, or deleted them, the viewers of the feed must read by themselves", async () => {
  for (const change of [{ tail: 7 }, { tail: 20, firstKept: 15 }]) {
    const rig = createRig();
    rig.tail = 9;
    const member = await rig.join(9);
    await rig.time.advance(1000);
    expect(member.calls).toEqual([]);
    Object.assign(rig, change);
    await rig.time.advance(1000);
    expect([member.calls, await rig.feed.read(9)]).toEqual([["lose"], "lost"]);
    // The feed goes on from the new end, and does not poll in a loop.
    const again = await rig.join(rig.tail);
    rig.looks = 0;
    await rig.time.advance(3000);
    expect(rig.looks).toBe(3);
    rig.tail += 1;
    await rig.time.advance(1000);
    expect(again.text).toBe(`${rig.tail} `);
  }
});

test("[SE1] the end of a run is told once, after its last event", async () => {
  const rig = createRig();
  const member = await rig.join(0);
  rig.tail = 1;
  rig.isOver = true;
  rig.announce();
  await rig.time.advance(0);
  expect([member.text, member.calls]).toEqual(["1 ", ["finish"]]);
});

test("[SE24] viewers end when the log cannot be read", async () => {
  const rig = createRig();
  const member = await rig.join(0);
  rig.isBroken = true;
  rig.tail = 1;
  rig.announce();
  await rig.time.advance(0);
  expect(member.calls).toEqual(["StorageUnavailableError"]);
});

test("[SE10] after the last viewer has left the log is not polled, and a closed feed has no subscription", async () => {
  const rig = createRig();
  const [one, two] = [await rig.join(0), await rig.join(0)];
  rig.feed.leave(one);
  await rig.time.advance(1000);
  expect(rig.looks).toBe(1);
  rig.feed.leave(two);
  rig.feed.close();
  expect(rig.listeners.size).toBe(0);
  rig.looks = 0;
  await rig.time.advance(10_000);
  expect(rig.looks).toBe(0);
});

test("[SE70] a signal is encoded once for all viewers at the end of the log; no other viewer gets it", async () => {
  const rig = createRig();
  const members = [];
  for (let at = 0; at < 1000; at += 1) members.push(await rig.join(0));
  const away = await rig.join(0);
  rig.feed.leave(away);
  rig.encoded = 0;
  rig.signal();
  expect(rig.encoded).toBe(1);
  for (const { bytes } of members) expect(bytes).toEqual([Buffer.from("signal")]);
  for (const { bytes } of members) expect(bytes[0]).toBe(members[0]?.bytes[0]);
  expect(away.bytes).toEqual([]);
  expect(rig.watches).toBe(1);
  rig.feed.close();
  expect(rig.watches).toBe(0);
});
