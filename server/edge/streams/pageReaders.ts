/**
 * PageReaders admits the readers of public event streams, who have no credential.
 *
 * Opening streams is limited by `rate.connects`, and open streams by `sse.address`, for each address and server.
 */
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import { toAddressSubject } from "../calls/addressSubject.ts";
import type { Draw, RateLimits } from "../calls/rateLimits.ts";
import { type AdmittedReader, type EndReason, stopping } from "./streamGate.ts";

export interface PageReadersOptions {
  /** Counted by this node alone, like the limits of the pages. */
  readonly pageLimits: Pick<RateLimits, "draw">;
  readonly limits: Pick<Limits, "sse.address">;
}

export interface PageReaders {
  /** Counts a request of an address. */
  draw(remoteAddress: string): Promise<Draw>;
  /** Throws `rate_limited` if the address has too many open streams. */
  admit(remoteAddress: string): AdmittedReader;
  readonly open: number;
  /** Ends all streams and refuses new readers. Readers may reconnect to another server. */
  close(): void;
}

export function createPageReaders({ pageLimits, limits }: PageReadersOptions): PageReaders {
  const readers = new Set<PageReader>();
  /** Address subject → number of its open streams. */
  const ofAddress = new Map<string, number>();
  let isClosed = false;

  function count(subject: string, change: 1 | -1): void {
    const open = (ofAddress.get(subject) ?? 0) + change;
    if (open > 0) ofAddress.set(subject, open);
    else ofAddress.delete(subject);
  }

  return {
    get open() {
      return readers.size;
    },
    draw: (remoteAddress) => pageLimits.draw(["rate.connects"], toAddressSubject(remoteAddress)),
    admit(remoteAddress) {
      if (isClosed) throw stopping();
      const subject = toAddressSubject(remoteAddress);
      if ((ofAddress.get(subject) ?? 0) >= limits["sse.address"]) {
        throw new AppError("rate_limited", "This address has too many open streams.", { retryAfter: 5 });
      }
      count(subject, 1);
      const reader = new PageReader(() => {
        if (readers.delete(reader)) count(subject, -1);
      });
      readers.add(reader);
      return reader;
    },
    close() {
      isClosed = true;
      for (const reader of [...readers]) reader.end();
    },
  };
}

class PageReader implements AdmittedReader {
  readonly #left: () => void;
  #listener: ((reason: EndReason) => void) | undefined;
  #isEnded = false;

  constructor(left: () => void) {
    this.#left = left;
  }

  end(): void {
    this.#isEnded = true;
    this.#listener?.("lost");
  }

  onEnd(listener: (reason: EndReason) => void): void {
    this.#listener = listener;
    if (this.#isEnded) listener("lost");
  }

  leave(): void {
    this.#listener = undefined;
    this.#left();
  }
}
