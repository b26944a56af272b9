import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readEventStream } from "./eventStream.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const text =
  'retry: 2000\n\n: sign of life\n\nevent: stream.position\nid: 7\ndata: \n\nevent: a\nid: 8\ndata: {"text":"Größe: 1"}\n\nevent: b\ndata: {}\n\nevent: cut';

/** A body that arrives in pieces of this size. */
function bodyOf(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
}

test.each([1, 2, 7, 1000])("[CL22] events are read whole from pieces of %i bytes, and a cut event is left out", async (size) => {
  const read = [];
  for await (const event of readEventStream(bodyOf(new TextEncoder().encode(text), size))) read.push(event);
  expect(read).toEqual([
    { event: "stream.position", id: "7", data: "" },
    { event: "a", id: "8", data: '{"text":"Größe: 1"}' },
    { event: "b", id: undefined, data: "{}" },
  ]);
});

test("[CL22] a connection that is silent for 45 seconds is taken for dead and closed", async () => {
  const closed = vi.fn();
  const reading = readEventStream(new ReadableStream({ cancel: closed })).next();
  const failed = expect(reading).rejects.toThrow("silent for 45 seconds");
  await vi.advanceTimersByTimeAsync(45_000);
  await failed;
  expect(closed).toHaveBeenCalledOnce();
});
