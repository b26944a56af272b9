/**
 * IncomingBody reads the body of one HTTP request after its caller is known.
 *
 * The body is opened in the handler's turn and read after the credential is checked. A request that is refused
 * because of its headers therefore needs little memory for its body. The calls of a tRPC batch share one body.
 */
import { AppError } from "../../../api/schema/error.ts";
import type { HttpRequest, RequestBody } from "../host/port.ts";
import type { BodyBudget, BodyOwner, BodyShare } from "./bodyBudget.ts";

const noBytes = new Uint8Array(0);
const retrySeconds = 1;

export class IncomingBody {
  /** True if more than `maxBytes` bytes are declared or have arrived. */
  tooLarge: boolean;
  /** Empty until `receive` has resolved. */
  bytes: Uint8Array = noBytes;
  private readonly share: BodyShare;
  private readonly body: RequestBody;
  readonly maxBytes: number;
  private received: Promise<void> | undefined;
  private hasEnded = false;
  private onEnded: (() => void) | undefined;

  /** Must be called in the same turn as the host's handler. */
  constructor(request: Pick<HttpRequest, "body">, budget: BodyBudget, maxBytes: number) {
    this.share = budget.open();
    this.body = request.body(this.share);
    this.maxBytes = maxBytes;
    this.tooLarge = (this.body.declaredBytes ?? 0) > maxBytes;
  }

  /** Resolves when the body has been received or refused. Stays pending if `receive` is never called. Call it at most once. */
  untilEnded(): Promise<void> {
    return new Promise((resolve) => {
      if (this.hasEnded) resolve();
      else this.onEnded = resolve;
    });
  }

  /**
   * Reads the body into `bytes`, or sets `tooLarge`. The body is read once; later calls return the same promise, and
   * their owner is ignored. Rejects with `unavailable` if the budget has no room, or with `ClientGone`.
   */
  receive(owner: BodyOwner): Promise<void> {
    this.received ??= this.read(owner);
    return this.received;
  }

  /** Returns the bytes to the budget. Call it when no call of the request needs them any more. */
  release(): void {
    this.bytes = noBytes;
    this.share.release();
  }

  private async read(owner: BodyOwner): Promise<void> {
    try {
      if (!this.tooLarge) await this.readBytes(owner);
    } finally {
      this.hasEnded = true;
      this.onEnded?.();
    }
  }

  private async readBytes(owner: BodyOwner): Promise<void> {
    const outcome = this.share.assign(owner) ? await this.body.read(this.maxBytes) : "no_room";
    if (outcome === "no_room") {
      const detail = "The server holds too many request bodies at the moment. Send this request again in a second, and fewer at once.";
      throw new AppError("unavailable", detail, { retryAfter: retrySeconds });
    }
    if (outcome === "too_large") this.tooLarge = true;
    else this.bytes = outcome;
  }
}
