/**
 * This module creates one-time setup links and checks their tokens.
 *
 * The token is in the URL fragment (after `#`), which browsers do not send. It therefore appears in no server log and
 * no referrer. A token names its account, or the installation when no account exists yet.
 */
import { randomBytes } from "node:crypto";
import { hashSecretText, sameHash } from "../auth/secretHash.ts";
import type { SetupToken } from "../registry/accountRecords.ts";

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

/** Returns the claimed target of a token: an account id, or `first`. */
export function targetOfSetupToken(token: string): string | typeof firstTarget {
  return token.slice(0, token.indexOf("."));
}

export function isFirstAccountToken(token: string): boolean {
  return targetOfSetupToken(token) === firstTarget;
}

/** Returns whether the token matches the stored one and has not expired. */
export function isValidSetupToken(token: string, kept: SetupToken | undefined, nowMs: number): boolean {
  return kept !== undefined && sameHash(kept.hash, hashSecretText(token)) && kept.expiresAtMs > nowMs;
}
