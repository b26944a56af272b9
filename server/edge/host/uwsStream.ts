/**
 * UwsStream writes a streamed body to one response of uWebSockets.js.
 *
 * The library copies what the kernel does not take into a buffer of the response. It drains that buffer only during a
 * later write, because `onWritable` is registered. Therefore the stream writes nothing, corked, whenever the response is writable:
 * otherwise the end of the last piece would wait for the next one.
 */
import type { BodySink, StreamedBody } from "./port.ts";
import type { UwsRequest } from "./uwsRequest.ts";

export class UwsStream implements BodySink {
  readonly #request: UwsRequest;
  readonly #body: StreamedBody;
  readonly #onError: (error: unknown) => void;
  readonly #endsConnection: boolean;

  constructor(request: UwsRequest, body: StreamedBody, onError: (error: unknown) => void) {
    this.#request = request;
    this.#endsConnection = request.endsConnection;
    // The answer has begun, so the headers are not read any more. A stream may last for days.
    request.headers.length = 0;
    this.#body = body;
    this.#onError = onError;
  }

  /** Call it once, after the head was written. */
  open(): void {
    const { response } = this.#request;
    this.#request.onAbort = () => this.#body.close();
    response.onWritable(() => {
      response.cork(() => {});
      if (!this.#request.over) this.#guard(() => this.#body.drain());
      return true;
    });
    this.#guard(() => this.#body.open(this));
  }

  write(piece: Uint8Array): boolean {
    const { over, response } = this.#request;
    if (over) return false;
    // Skip empty pieces: an empty chunk would end the body.
    if (piece.length === 0) return true;
    let hasRoom = true;
    response.cork(() => {
      hasRoom = response.write(piece);
    });
    return hasRoom;
  }

  end(): void {
    const { over, response } = this.#request;
    if (over) return;
    this.#request.over = true;
    response.cork(() => response.end(undefined, this.#endsConnection));
    this.#body.close();
  }

  cut(error?: unknown): void {
    if (this.#request.over) return;
    if (error !== undefined) this.#onError(error);
    // The library reports the close as an abort of the request, which closes the body.
    this.#request.response.close();
  }

  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.cut(error);
    }
  }
}
