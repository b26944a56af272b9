/** Makes a streamed body of pieces: it writes them as they come, waits while there is no room, and is cut if they fail. */
import type { BodySink, StreamedBody } from "../../server/edge/host/port.ts";

export function streamOf(pieces: AsyncIterable<string | Uint8Array>): StreamedBody {
  const iterator = pieces[Symbol.asyncIterator]();
  let isClosed = false;
  let roomAgain = () => {};
  async function pump(sink: BodySink): Promise<void> {
    try {
      for (let next = await iterator.next(); !next.done && !isClosed; next = await iterator.next()) {
        if (!sink.write(Buffer.from(next.value))) await new Promise<void>((resolve) => (roomAgain = resolve));
      }
      sink.end();
    } catch (error) {
      sink.cut(error);
    }
  }
  return {
    open: (sink) => void pump(sink),
    drain: () => roomAgain(),
    close() {
      isClosed = true;
      roomAgain();
      void iterator.return?.();
    },
  };
}
