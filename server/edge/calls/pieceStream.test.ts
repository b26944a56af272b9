import { expect, test } from "vitest";
import { StorageUnavailableError } from "../../platform/storage/port.ts";
import type { BodySink } from "../host/port.ts";
import { toPieceStream } from "./pieceStream.ts";

/** A connection with room for one piece at a time. */
function createSlowSink() {
  const events: string[] = [];
  const sink: BodySink = {
    write(piece) {
      events.push(`wrote ${piece.length}`);
      return false;
    },
    end: () => void events.push("ended"),
    cut: (error) => void events.push(error === undefined ? "cut" : `cut by ${error}`),
  };
  return { sink, events };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("[CV72] the next piece is read only when the connection has room, and the last one ends the answer", async () => {
  const reads: number[] = [];
  const stream = toPieceStream({
    size: 25,
    async read(from) {
      reads.push(from);
      return new Uint8Array(Math.min(10, 25 - from));
    },
  });
  const { sink, events } = createSlowSink();
  stream.open(sink);
  await settle();
  expect([reads, events]).toEqual([[0], ["wrote 10"]]);
  stream.drain();
  await settle();
  expect(reads).toEqual([0, 10]);
  stream.drain();
  await settle();
  expect([reads, events]).toEqual([
    [0, 10, 20],
    ["wrote 10", "wrote 10", "wrote 5", "ended"],
  ]);
});

test("[CV72] an output that is deleted while it is sent, or whose store fails, is cut off", async () => {
  const failures: readonly (readonly [() => Promise<undefined>, string])[] = [
    [async () => undefined, "cut"],
    [() => Promise.reject(new StorageUnavailableError("away")), "cut"],
    [() => Promise.reject(new Error("a bug")), "cut by Error: a bug"],
  ];
  for (const [fail, event] of failures) {
    const stream = toPieceStream({ size: 20, read: (from) => (from === 0 ? Promise.resolve(new Uint8Array(10)) : fail()) });
    const { sink, events } = createSlowSink();
    stream.open(sink);
    await settle();
    stream.drain();
    await settle();
    stream.close();
    expect(events).toEqual(["wrote 10", event]);
  }
});

test("[CV72] nothing is read for a client that has left", async () => {
  const reads: number[] = [];
  const stream = toPieceStream({
    size: 20,
    async read(from) {
      reads.push(from);
      return new Uint8Array(10);
    },
  });
  const { sink, events } = createSlowSink();
  stream.open(sink);
  await settle();
  stream.close();
  stream.drain();
  await settle();
  expect([reads, events]).toEqual([[0], ["wrote 10"]]);
});
