/**
 * `toPieceStream` sends bytes that are read in pieces. The next piece is read when the connection has room for it, so a
 * slow client holds one piece in memory.
 *
 * The status is sent before the first piece. If a later piece cannot be read, the answer is cut off, so that the client
 * does not take it for complete.
 */
import type { Pieces } from "../../domain/call/call.ts";
import { toRefusal } from "../../domain/call/problem.ts";
import type { BodySink, StreamedBody } from "../host/port.ts";

export function toPieceStream(pieces: Pieces): StreamedBody {
  let sink: BodySink | undefined;
  let from = 0;
  let hasRoom = true;
  let isReading = false;

  async function readNext(to: BodySink): Promise<void> {
    const piece = await pieces.read(from);
    if (piece === undefined || piece.length === 0) return cut(to);
    from += piece.length;
    hasRoom = to.write(piece);
    if (from < pieces.size) return;
    sink = undefined;
    to.end();
  }

  function cut(to: BodySink, error?: unknown): void {
    sink = undefined;
    to.cut(error);
  }

  async function send(): Promise<void> {
    if (isReading) return;
    isReading = true;
    try {
      while (sink !== undefined && hasRoom) await readNext(sink);
    } catch (error) {
      if (sink !== undefined) cut(sink, toRefusal(error).bug ? error : undefined);
    } finally {
      isReading = false;
    }
  }

  return {
    open(opened) {
      sink = opened;
      void send();
    },
    drain() {
      hasRoom = true;
      void send();
    },
    close() {
      sink = undefined;
    },
  };
}
