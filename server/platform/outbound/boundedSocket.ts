/**
 * BoundedSocket wraps a connection and reads at most a given number of bytes from it.
 *
 * An HTTP client limits header fields and bodies, but not a reason phrase, a chunk extension or the number of interim
 * answers, and TLS does not limit its own messages. A hostile peer can send these without end. A limit on the bytes of
 * the connection covers all of them, in every protocol above it.
 *
 * At the limit the reader sees the end of the stream, so it still receives everything before the limit. An error would
 * discard the data that the reader has not read yet.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

export class BoundedSocket extends Duplex {
  /** True after the peer has sent more than the limit. */
  isExceeded = false;
  readonly #inner: Duplex;
  #leftBytes: number;
  #isEnded = false;

  constructor(inner: Duplex, maxReadBytes: number) {
    super();
    // The peer can break the connection before an HTTP client listens for errors, and an error without a listener ends
    // the process. The client still gets the error: the stream is destroyed and keeps the error in `errored`.
    this.on("error", () => {});
    this.#inner = inner;
    this.#leftBytes = maxReadBytes;
    inner.on("data", (chunk: Buffer) => this.#take(chunk));
    inner.once("end", () => {
      if (!this.#isEnded) this.#end();
    });
    inner.on("error", (error) => this.destroy(error));
    // After the end of the stream the reader may still have buffered data to read, so the stream is not destroyed here.
    inner.once("close", () => {
      if (!this.#isEnded) this.destroy();
    });
    inner.pause();
  }

  #take(chunk: Buffer): void {
    if (this.#isEnded) return;
    const taken = chunk.subarray(0, this.#leftBytes);
    this.#leftBytes -= taken.length;
    const wantsMore = this.push(taken);
    this.isExceeded = taken.length < chunk.length;
    if (this.isExceeded) {
      this.#end();
      this.#inner.destroy();
    } else if (!wantsMore) {
      this.#inner.pause();
    }
  }

  #end(): void {
    this.#isEnded = true;
    this.push(null);
  }

  override _read(): void {
    this.#inner.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#inner.write(chunk, encoding, done);
  }

  override _final(done: () => void): void {
    this.#inner.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#inner.destroy();
    done(error);
  }
}

/** Casts the stream for undici, which declares a `Socket` but uses only the stream methods of a connection. */
export function toClientSocket(socket: BoundedSocket): Socket {
  return socket as unknown as Socket;
}
