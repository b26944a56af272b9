/** NodeStream writes a streamed body to one response of node:http. */
import type { ServerResponse } from "node:http";
import type { BodySink, StreamedBody } from "./port.ts";

/** Time after which a client that reads nothing of an answer is disconnected. uWebSockets.js uses about the same time. */
const stalledMs = 12_000;

export class NodeStream implements BodySink {
  readonly #outgoing: ServerResponse;
  readonly #body: StreamedBody;
  readonly #onError: (error: unknown) => void;
  #stalled: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(outgoing: ServerResponse, body: StreamedBody, onError: (error: unknown) => void) {
    this.#outgoing = outgoing;
    this.#body = body;
    this.#onError = onError;
  }

  /** Call it once, after the head was written. */
  open(): void {
    this.#outgoing.on("drain", () => {
      clearTimeout(this.#stalled);
      this.#stalled = undefined;
      if (!this.#isClosed) this.#guard(() => this.#body.drain());
    });
    this.#outgoing.on("close", () => {
      clearTimeout(this.#stalled);
      this.#close();
    });
    this.#guard(() => this.#body.open(this));
  }

  write(piece: Uint8Array): boolean {
    if (this.#isClosed) return false;
    if (piece.length === 0 || this.#outgoing.write(piece)) return true;
    // A client that reads nothing for this time counts as gone, even if its connection is still open.
    this.#stalled ??= setTimeout(() => this.#outgoing.destroy(), stalledMs);
    return false;
  }

  end(): void {
    if (this.#isClosed) return;
    this.#outgoing.end();
    this.#close();
  }

  cut(error?: unknown): void {
    if (this.#isClosed) return;
    if (error !== undefined) this.#onError(error);
    this.#outgoing.destroy();
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#body.close();
  }

  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.cut(error);
    }
  }
}
