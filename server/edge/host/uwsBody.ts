/**
 * UwsBody implements `RequestBody` for one request on uWebSockets.js.
 *
 * The library delivers body bytes even before `read` is called, so they are buffered from the handler's turn on. An
 * unread body pauses its connection after `maxEarlyBytes`; at most one receive buffer of the library (512 KiB) can
 * follow. All these bytes count against the allowance. If it has no room, the buffered bytes are discarded.
 */
import type { HttpResponse as NativeResponse } from "uWebSockets.js";
import { type ByteAllowance, ClientGone, type RequestBody } from "./port.ts";

/** Bytes that are buffered before `read`. Most bodies are smaller, so they avoid the two system calls of a pause. */
const maxEarlyBytes = 64 * 1024;

type Outcome = Uint8Array | "too_large" | "no_room";

const noBytes = new Uint8Array(0);

export class UwsBody implements RequestBody {
  readonly declaredBytes: number | undefined;
  private readonly response: NativeResponse;
  private readonly allowance: ByteAllowance;
  private parts: Buffer[] = [];
  private totalBytes = 0;
  private maxBytes: number | undefined;
  private isPaused = false;
  private outcome: Outcome | ClientGone | undefined;
  private settle: { resolve(outcome: Outcome): void; reject(reason: ClientGone): void } | undefined;

  constructor(response: NativeResponse, allowance: ByteAllowance, declaredBytes: number | undefined) {
    this.response = response;
    this.allowance = allowance;
    this.declaredBytes = declaredBytes;
    if (declaredBytes === 0) this.outcome = noBytes;
    else response.onData((chunk, isLast) => this.onData(chunk, isLast));
  }

  read(maxBytes: number): Promise<Outcome> {
    this.maxBytes = maxBytes;
    if (this.outcome === undefined && (this.declaredBytes ?? this.totalBytes) > maxBytes) this.end("too_large");
    const { outcome } = this;
    if (outcome instanceof ClientGone) return Promise.reject(outcome);
    if (outcome instanceof Uint8Array && outcome.length > maxBytes) return Promise.resolve("too_large");
    if (outcome !== undefined) {
      this.forgetBytes();
      return Promise.resolve(outcome);
    }
    this.resume();
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
  }

  /** Discards all further bytes, because the request is answered. Must be called while the response is still open. */
  discard(): void {
    this.end("no_room");
    this.resume();
  }

  /** Ends the body because the client disconnected. No native object may be used afterwards. */
  abort(): void {
    this.isPaused = false;
    this.end(new ClientGone());
  }

  private onData(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.outcome !== undefined) return;
    this.totalBytes += chunk.byteLength;
    if (this.totalBytes > (this.maxBytes ?? Number.POSITIVE_INFINITY)) this.end("too_large");
    else if (!this.allowance.take(chunk.byteLength)) this.end("no_room");
    else this.keep(chunk, isLast);
  }

  private keep(chunk: ArrayBuffer, isLast: boolean): void {
    // Copy the chunk, because it is detached when the callback returns.
    this.parts.push(Buffer.from(new Uint8Array(chunk)));
    if (isLast) {
      const [only = noBytes] = this.parts;
      this.end(this.parts.length === 1 ? only : Buffer.concat(this.parts, this.totalBytes));
    } else if (this.maxBytes === undefined && this.totalBytes > maxEarlyBytes && !this.isPaused) {
      this.isPaused = true;
      this.response.pause();
    }
  }

  private end(outcome: Outcome | ClientGone): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    this.parts = [];
    if (outcome instanceof ClientGone) this.settle?.reject(outcome);
    else this.settle?.resolve(outcome);
    if (this.settle !== undefined) this.forgetBytes();
  }

  /** The reader has the bytes now. It may release their memory long before the request ends. */
  private forgetBytes(): void {
    if (this.outcome instanceof Uint8Array) this.outcome = noBytes;
  }

  private resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.response.resume();
  }
}
