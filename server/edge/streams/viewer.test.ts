/** Tests a viewer on a log, a sink and a clock that the test controls. */
import { expect, test } from "vitest";
import type { ArticleSignal } from "../../../api/schema/articleEvent.ts";
import type { AgentEvent } from "../../../api/schema/timeline.ts";
import { createManualTime } from "../../../test/support/manualTime.ts";
import { StorageUnavailableError } from "../../platform/storage/port.ts";
import { createKeepAlive } from "./keepAlive.ts";
import type { SignalItem, StreamEvent, TimelineSource } from "./port.ts";
import type { StreamFormat } from "./streamFormat.ts";
import type { EndReason } from "./streamGate.ts";
import { TimelineFeed } from "./timelineFeed.ts";
import { Viewer } from "./viewer.ts";

const format: StreamFormat = {
  head: Buffer.from("head "),
  keepAlive: Buffer.from("sign "),
  encode: (item) => Buffer.from(`${item.kind}${"token" in item ? item.token : ""} `),
};

function createRig() {
  const time = createManualTime();
  const rig = { tail: 0, firstKept: 1, isOver: false, fault: undefined as unknown, released: 0, left: 0 };
  let announce = () => {};
  let show: (item: SignalItem) => void = () => {};
  const source: TimelineSource = {
    log: "run/1",
    toItem: ({ position }) => ({ kind: "event", token: String(position), event: { seq: position } as AgentEvent }),
    toToken: String,
    snapshot: async () => ({ snapshot: {}, tail: rig.tail }),
    isOver: async () => rig.isOver,
    watch(listener) {
      show = listener;
      return () => {};
    },
  };
  const feed = new TimelineFeed({
    source,
    clock: time,
    subscribe(_topic, listener) {
      announce = listener;
      return () => {};
    },
    tail: async () => rig.tail,
    async read(after) {
      if (rig.fault !== undefined) throw rig.fault;
      const { tail, firstKept } = rig;
      if (after + 1 < firstKept) return { gap: true, firstKept, tail };
      const entries = Array.from({ length: Math.max(0, Math.min(3, tail - after)) }, (_, at) => ({
        position: after + at + 1,
        bytes: new Uint8Array(1),
      }));
      return { gap: false, entries, tail };
    },
    recentBytes: 10,
  });
  const parts = {
    clock: time,
    keepAlive: createKeepAlive(time, 15_000),
    feeds: {
      open: () => feed,
      release() {
        rig.released += 1;
      },
    },
  };
  return Object.assign(rig, {
    time,
    signal: () => show({ kind: "signal", event: { event: "document.live" } as ArticleSignal }),
    async tell(count: number) {
      rig.tail += count;
      announce();
      await time.advance(0);
    },
    /** Opens a viewer on a sink that has room for `room` writes. */
    async view({
      position = 0,
      room = Number.POSITIVE_INFINITY,
      keeps,
    }: {
      position?: number;
      room?: number;
      keeps?: (event: StreamEvent) => boolean;
    } = {}) {
      let end: (reason: EndReason) => void = () => {};
      const reader = {
        onEnd(listener: (reason: EndReason) => void) {
          end = listener;
        },
        leave() {
          rig.left += 1;
        },
      };
      const viewer = new Viewer(
        parts,
        reader,
        { log: "run/1", position, isOver: false, ...(keeps === undefined ? {} : { keeps }) },
        format,
      );
      const seen = { text: "", room, outcome: undefined as unknown };
      const over = (outcome: unknown) => {
        seen.outcome ??= outcome;
        viewer.close();
      };
      viewer.open({
        write(piece) {
          seen.text += Buffer.from(piece);
          seen.room -= 1;
          return seen.room > 0;
        },
        end: () => over("ended"),
        cut: (error) => over(error ?? "cut"),
      });
      await time.advance(0);
      return {
        seen,
        viewer,
        /** The access of the reader ends, or its article is deleted. */
        end: (reason: EndReason = "lost") => end(reason),
        async drain(roomFor = Number.POSITIVE_INFINITY) {
          seen.room = roomFor;
          viewer.drain();
          await time.advance(0);
        },
      };
    },
  });
}

test("[SE13] a viewer whose client does not read writes nothing, and then continues where it was", async () => {
  const rig = createRig();
  const { seen, drain } = await rig.view({ room: 3 });
  expect(seen.text).toBe("head position0 ");
  await rig.tell(1);
  expect(seen.text).toBe("head position0 event1 ");
  for (let at = 0; at < 9; at += 1) await rig.tell(1);
  await rig.time.advance(60_000);
  expect(seen.text).toBe("head position0 event1 ");
  await drain(2);
  expect(seen.text).toBe("head position0 event1 event2 event3 event4 event5 event6 event7 ");
  await drain();
  await rig.tell(1);
  expect(seen.text).toBe(`head position0 ${Array.from({ length: 11 }, (_, at) => `event${at + 1} `).join("")}`);
});

test("[SE2] a filtered viewer advances its position after events that it does not get", async () => {
  const rig = createRig();
  const { seen } = await rig.view({ keeps: (event) => "seq" in event && event.seq === 2 });
  await rig.tell(2);
  await rig.tell(1);
  expect(seen.text).toBe("head position0 event2 position3 ");
});

test("[SE15] a viewer whose position was deleted, or is beyond the end, gets a snapshot and continues", async () => {
  const rig = createRig();
  rig.tail = 9;
  const ahead = await rig.view({ position: 12 });
  const waiting = await rig.view({ position: 9 });
  rig.firstKept = 8;
  const late = await rig.view({ position: 3 });
  rig.tail = 8;
  await rig.time.advance(1000);
  await rig.tell(1);
  expect(ahead.seen.text).toBe("head reset9 reset8 event9 ");
  expect(waiting.seen.text).toBe("head position9 reset8 event9 ");
  expect(late.seen.text).toBe("head reset9 reset8 event9 ");
});

test("[SE1] a viewer ends with its run, also one that was busy at the end", async () => {
  const rig = createRig();
  const quick = await rig.view();
  const slow = await rig.view({ room: 3 });
  await rig.tell(1);
  rig.isOver = true;
  await rig.tell(1);
  expect([quick.seen.text, quick.seen.outcome]).toEqual(["head position0 event1 event2 end ", "ended"]);
  await slow.drain();
  expect([slow.seen.text, slow.seen.outcome]).toEqual([quick.seen.text, "ended"]);
  expect([rig.released, rig.left]).toEqual([2, 2]);
});

test("[SE61] a stream that must end is ended for a client that reads, and cut for one that does not", async () => {
  const rig = createRig();
  const quick = await rig.view();
  const slow = await rig.view({ room: 2 });
  for (const { end } of [quick, slow]) end();
  expect([quick.seen.outcome, slow.seen.outcome]).toEqual(["ended", "cut"]);
  await rig.tell(1);
  expect([quick.seen.text, slow.seen.text]).toEqual(["head position0 ", "head position0 "]);
});

test("[SE10] a viewer that leaves is released once, and an error of its log reaches the host", async () => {
  const rig = createRig();
  const gone = await rig.view();
  gone.viewer.close();
  await rig.tell(1);
  expect([gone.seen.text, rig.released]).toEqual(["head position0 ", 1]);
  const unavailable = await rig.view({ position: 1 });
  const broken = await rig.view({ position: 1, room: 2 });
  rig.fault = new StorageUnavailableError("the store does not answer");
  await rig.tell(1);
  expect(unavailable.seen.outcome).toBe("ended");
  rig.fault = new Error("broken");
  await broken.drain();
  expect([broken.seen.outcome, rig.released]).toEqual([rig.fault, 3]);
});

test("[SE14] a silent viewer sends signs, and one that receives events sends none", async () => {
  const rig = createRig();
  const { seen } = await rig.view();
  for (let at = 0; at < 3; at += 1) {
    await rig.time.advance(10_000);
    await rig.tell(1);
  }
  expect(seen.text).not.toContain("sign");
  await rig.time.advance(30_000);
  expect(seen.text.split("sign")).toHaveLength(3);
});

test("[SE67] viewers of a deleted article get its last events and the end, or end within half a second", async () => {
  const rig = createRig();
  const [quick, behind, slow] = [await rig.view(), await rig.view({ position: 0 }), await rig.view({ room: 2 })];
  rig.tail = 1;
  rig.isOver = true;
  for (const { end } of [quick, behind, slow]) end("deleted");
  await rig.time.advance(0);
  for (const { seen } of [quick, behind]) expect([seen.text, seen.outcome]).toEqual(["head position0 event1 end ", "ended"]);
  expect(slow.seen.outcome).toBe("cut");
  // The article has returned meanwhile, or its last event cannot be read: the client connects again.
  const again = createRig();
  const { seen, end } = await again.view();
  end("deleted");
  await again.time.advance(499);
  expect(seen.outcome).toBeUndefined();
  await again.time.advance(1);
  expect([seen.text, seen.outcome]).toEqual(["head position0 ", "ended"]);
});

test("[SE70] a viewer gets signals at the end of the log only, and none while its client does not read", async () => {
  const rig = createRig();
  const { seen, drain } = await rig.view({ room: 4 });
  rig.signal();
  await rig.tell(1);
  rig.signal();
  expect(seen.text).toBe("head position0 signal event1 ");
  await drain();
  rig.signal();
  expect(seen.text).toBe("head position0 signal event1 signal ");
});
