/**
 * One-time setup links: the text of their tokens and the address of the page that takes them.
 *
 * The token stands behind the `#`, which browsers keep to themselves: it reaches neither a server's log nor a
 * referrer. A token names the account it is for, or the installation when there is no account yet.
 */
import { randomBytes } from "node:crypto";
import { hashSecretText, sameHash } from "../auth/secretHash.ts";
import type { SetupToken } from "./records.ts";

const firstTarget = "first";

export interface NewSetupLink {
  readonly url: string;
  readonly kept: SetupToken;
}

function toLink(baseUrl: string, target: string, username: string | undefined, expiresAtMs: number): NewSetupLink {
  const token = `${target}.${randomBytes(32).toString("base64url")}`;
  const fragment = new URLSearchParams({ token, ...(username === undefined ? {} : { username }) });
  return { url: `${baseUrl}/setup#${fragment}`, kept: { hash: hashSecretText(token), expiresAtMs } };
}

export function createFirstAccountLink(baseUrl: string, expiresAtMs: number): NewSetupLink {
  return toLink(baseUrl, firstTarget, undefined, expiresAtMs);
}

export function createAccountLink(baseUrl: string, account: { accountId: string; username: string }, expiresAtMs: number): NewSetupLink {
  return toLink(baseUrl, account.accountId, account.username, expiresAtMs);
}

/** What a token claims to be for: an account id, or `first`. */
export function targetOfSetupToken(token: string): string | typeof firstTarget {
  return token.slice(0, token.indexOf("."));
}

export function isFirstAccountToken(token: string): boolean {
  return targetOfSetupToken(token) === firstTarget;
}

/** The token is the kept one, and its time is not over. */
export function isGoodSetupToken(token: string, kept: SetupToken | undefined, nowMs: number): boolean {
  return kept !== undefined && sameHash(kept.hash, hashSecretText(token)) && kept.expiresAtMs > nowMs;
}
