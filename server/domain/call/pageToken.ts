/**
 * This module creates and checks the continuation tokens of lists.
 *
 * A token is opaque to the client, signed, short-lived, and bound to one list with its filters and order. It contains
 * the index key to continue after. A token proves nothing about access: every request checks access again.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "../../../api/schema/error.ts";
import type { IndexKey } from "../../platform/storage/port.ts";

export interface PageTokens {
  seal(binding: string, after: IndexKey, expiresAtMs: number): string;
  /** Returns the key to continue after. Throws `invalid_next_token`. */
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
      // Buffer.from ignores characters that are not base64url, so compare the canonical text too.
      const genuine =
        bytes.toString("base64url") === token &&
        bytes.length > macBytes &&
        timingSafeEqual(bytes.subarray(0, macBytes), sign(binding, payload));
      if (!genuine) {
        throw new AppError(
          "invalid_next_token",
          "nextToken must be the nextToken of the previous page, sent with the same filters and order.",
        );
      }
      const [expiresAtMs, ...after] = JSON.parse(payload.toString()) as [number, ...IndexKey];
      if (expiresAtMs <= nowMs) throw new AppError("invalid_next_token", "nextToken has expired; start again from the first page.");
      return after;
    },
  };
}
