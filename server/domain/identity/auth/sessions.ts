/**
 * This module signs users in with a password, refreshes sessions and ends them.
 *
 * A session is a record in the partition of its account. The refresh token is replaced at every use and stored as a
 * hash. Two tabs may refresh with one token at the same moment, and a response may get lost. Therefore the previous
 * token returns the same successor for `keep.refreshGrace` after its first use (AU35). The use of an older token, or of
 * the previous token after the grace period, means that two parties hold the session, so the session ends for both
 * (AU4). An unknown username, a wrong password, a disabled account and an account without a password get the same
 * response after the same amount of work (AU1).
 *
 * Tabs of a browser share one token in a cookie, and answers of two tabs may arrive in any order. A shared token is
 * therefore replaced at most once in `keep.refreshGrace`: the browser then holds the current token or its predecessor,
 * whichever answer came last (AU45).
 */
import type { Logger } from "pino";
import type { Limits } from "../../../../api/limits.ts";
import type { TokenRequest, TokenResponse } from "../../../../api/schema/account.ts";
import { AppError } from "../../../../api/schema/error.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../../platform/storage/retryOnConflict.ts";
import type { Call } from "../../call/call.ts";
import { sessionOf } from "../../call/principal.ts";
import { accessFactWrite } from "../access/accessFacts.ts";
import { type SessionRecord, sessionRecord } from "../access/credentialRecords.ts";
import { accountRecord } from "../registry/accountRecords.ts";
import type { AccountRegistry } from "../registry/accountRegistry.ts";
import type { AccessTokens } from "./accessTokens.ts";
import type { Passwords } from "./passwords.ts";
import type { RefreshTokens } from "./refreshTokens.ts";
import { hashSecretText, sameHash } from "./secretHash.ts";

export interface Sessions {
  /** Handles both grants of POST /auth/token. */
  token(call: Pick<Call, "ids" | "limits">, request: TokenRequest): Promise<TokenResponse>;
  /** Refreshes with a token that several tabs share. */
  refreshShared(call: Pick<Call, "limits">, refreshToken: string): Promise<TokenResponse>;
  /** Ends the session of the caller. */
  logout(call: Call): Promise<void>;
  /** Ends the session of a refresh token, which may be an old one. Does nothing if the session has ended, or for an invented token. */
  endByToken(refreshToken: string, reason: string): Promise<void>;
}

export interface SessionsOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now">;
  readonly accounts: Pick<AccountRegistry, "find">;
  readonly passwords: Pick<Passwords, "verify">;
  readonly tokens: Pick<AccessTokens, "issue">;
  readonly refreshTokens: RefreshTokens;
  readonly log: Logger;
}

function refuseSignIn(): AppError {
  return new AppError("unauthenticated", "The username or the password is wrong.");
}

function refuseRefresh(): AppError {
  return new AppError("unauthenticated", "The refresh token is no longer valid. Sign in with the password.");
}

export function createSessions(options: SessionsOptions): Sessions {
  const { storage, accounts, passwords, tokens, refreshTokens } = options;
  const audit = options.log.child({ stream: "audit" });

  async function toResponse(username: string, sessionId: string, refreshToken: string, nowMs: number): Promise<TokenResponse> {
    const { token, expiresInSeconds } = await tokens.issue({ username, sessionId }, nowMs);
    return { accessToken: token, tokenType: "Bearer", expiresIn: expiresInSeconds, refreshToken };
  }

  /**
   * A refresh token may be configured to expire before the access token. The session must not expire before the access
   * token.
   */
  function refreshExpiry(limits: Limits, nowMs: number): number {
    return nowMs + Math.max(limits["keep.refreshToken"], limits["keep.accessToken"]);
  }

  async function signIn(call: Pick<Call, "ids" | "limits">, name: string, password: string): Promise<TokenResponse> {
    const account = await accounts.find(name);
    const right = await passwords.verify(account?.disabled === false ? account.passwordHash : undefined, password);
    if (account === undefined || !right) {
      if (account !== undefined) audit.info({ event: "session.refused", username: account.username }, "sign-in refused");
      throw refuseSignIn();
    }
    const { accountId, username, sessionEpoch: epoch } = account;
    const nowMs = storage.now();
    const partition = partitionOfId(accountId);
    const sessionId = call.ids.next("ses", partition);
    const refreshToken = refreshTokens.create(sessionId);
    const value: SessionRecord = {
      sessionId,
      accountId,
      epoch,
      refreshHash: hashSecretText(refreshToken),
      refreshExpiresAtMs: refreshExpiry(call.limits, nowMs),
      createdAtMs: nowMs,
    };
    const result = await storage.commit({ partition, records: [{ op: "put", type: sessionRecord, value, replacing: null }] });
    if (!result.ok) throw new Error(`the new session ${sessionId} exists already`);
    audit.info({ event: "session.started", username, sessionId }, "session started");
    return toResponse(username, sessionId, refreshToken, nowMs);
  }

  async function end(stored: Stored<SessionRecord>, reason: string): Promise<void> {
    const { sessionId, accountId } = stored.value;
    const partition = partitionOfId(accountId);
    let replacing: Stored<SessionRecord> | undefined = stored;
    await retryOnConflict("session.end", async () => {
      if (replacing === undefined) return;
      const result = await storage.commit({
        partition,
        records: [{ op: "delete", type: sessionRecord, replacing }],
        logs: [accessFactWrite({ kind: "session.ended", sessionId })],
      });
      if (result.ok) {
        audit.info({ event: "session.ended", sessionId, reason }, "session ended");
        return;
      }
      replacing = await storage.records.get(sessionRecord, sessionId);
      return conflict;
    });
  }

  /** Returns the successor that was issued for `text` earlier, if the grace period has not ended. */
  function toKnownSuccessor({ refreshHash, predecessor }: SessionRecord, limits: Limits, text: string, nowMs: number): string | undefined {
    if (predecessor === undefined || !sameHash(predecessor.hash, hashSecretText(text))) return undefined;
    if (nowMs >= predecessor.usedAtMs + limits["keep.refreshGrace"]) return undefined;
    return refreshTokens.successorsOf(text).find((successor) => sameHash(refreshHash, hashSecretText(successor)));
  }

  /** True if the current token was issued within the grace period of its predecessor. */
  function isJustIssued({ predecessor }: SessionRecord, limits: Limits, nowMs: number): boolean {
    return predecessor !== undefined && nowMs < predecessor.usedAtMs + limits["keep.refreshGrace"];
  }

  function refresh(call: Pick<Call, "limits">, text: string, isShared: boolean): Promise<TokenResponse> {
    return retryOnConflict("session.refresh", () => refreshOnce(call, text, isShared));
  }

  async function refreshOnce(call: Pick<Call, "limits">, text: string, isShared: boolean): Promise<TokenResponse | typeof conflict> {
    const sessionId = refreshTokens.sessionIdOf(text);
    if (sessionId === undefined) throw refuseRefresh();
    const stored = await storage.records.get(sessionRecord, sessionId);
    if (stored === undefined) throw refuseRefresh();
    const session = stored.value;
    const nowMs = storage.now();
    const isCurrent = sameHash(session.refreshHash, hashSecretText(text));
    const unreplaced = isShared && isJustIssued(session, call.limits, nowMs) ? text : undefined;
    const known = isCurrent ? unreplaced : toKnownSuccessor(session, call.limits, text, nowMs);
    if (!isCurrent && known === undefined) {
      await end(stored, "refresh token reused");
      throw refuseRefresh();
    }
    if (session.refreshExpiresAtMs <= nowMs) {
      throw new AppError("token_expired", "The refresh token has expired. Sign in with the password.");
    }
    const account = (await storage.records.get(accountRecord, session.accountId))?.value;
    if (account === undefined || account.disabled || account.sessionEpoch !== session.epoch) throw refuseRefresh();
    if (known !== undefined) return toResponse(account.username, sessionId, known, nowMs);
    const [refreshToken] = refreshTokens.successorsOf(text);
    const value: SessionRecord = {
      ...session,
      refreshHash: hashSecretText(refreshToken),
      predecessor: { hash: session.refreshHash, usedAtMs: nowMs },
      refreshExpiresAtMs: refreshExpiry(call.limits, nowMs),
    };
    const result = await storage.commit({
      partition: partitionOfId(session.accountId),
      records: [{ op: "put", type: sessionRecord, value, replacing: stored }],
    });
    if (!result.ok) return conflict;
    return toResponse(account.username, sessionId, refreshToken, nowMs);
  }

  return {
    token(call, request) {
      if (request.grantType === "password") return signIn(call, request.username, request.password);
      return refresh(call, request.refreshToken, false);
    },
    refreshShared: (call, refreshToken) => refresh(call, refreshToken, true),
    async logout(call) {
      const { sessionId } = sessionOf(call);
      const stored = await storage.records.get(sessionRecord, sessionId);
      if (stored !== undefined) await end(stored, "logout");
    },
    async endByToken(refreshToken, reason) {
      const sessionId = refreshTokens.sessionIdOf(refreshToken);
      const stored = sessionId === undefined ? undefined : await storage.records.get(sessionRecord, sessionId);
      if (stored !== undefined) await end(stored, reason);
    },
  };
}
