/**
 * Continuation tokens of lists: opaque to the client, signed, bound to the list (its filter and order) and
 * short-lived. A token carries the index key to continue after and proves nothing about access, which every
 * request shows anew.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "../../api/schema/error.ts";
import type { IndexKey } from "../storage/port.ts";

export interface PageTokens {
  seal(binding: string, after: IndexKey, expiresAtMs: number): string;
  /** Refuses with `invalid_next_token`. */
  open(binding: string, token: string, nowMs: number): IndexKey;
}

const macBytes = 16;

export function createPageTokens(pageKey: Uint8Array): PageTokens {
  const sign = (binding: string, payload: Uint8Array): Buffer =>
    createHmac("sha256", pageKey)
      .update(`${Buffer.byteLength(binding)}:`)
      .update(binding)
      .update(payload)
      .digest()
      .subarray(0, macBytes);

  return {
    seal(binding, after, expiresAtMs) {
      const payload = Buffer.from(JSON.stringify([expiresAtMs, ...after]));
      return Buffer.concat([sign(binding, payload), payload]).toString("base64url");
    },
    open(binding, token, nowMs) {
      const bytes = Buffer.from(token, "base64url");
      const payload = bytes.subarray(macBytes);
      // Buffer.from skips what is not base64url, so the canonical text is compared too.
      const genuine =
        bytes.toString("base64url") === token &&
        bytes.length > macBytes &&
        timingSafeEqual(bytes.subarray(0, macBytes), sign(binding, payload));
      if (!genuine) {
        throw new AppError("invalid_next_token", "nextToken must be the token of the page before, sent with the same filters and order.");
      }
      const [expiresAtMs, ...after] = JSON.parse(payload.toString()) as [number, ...IndexKey];
      if (expiresAtMs <= nowMs) throw new AppError("invalid_next_token", "nextToken has expired; start again from the first page.");
      return after;
    },
  };
}
