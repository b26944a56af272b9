/**
 * Sign-in with a password, refreshing, and the end of a session.
 *
 * A session is a record in its account's partition; its refresh token is replaced at every use and kept as a
 * hash. A token of an earlier generation means that two parties hold the session, so it ends for both. An
 * unknown username, a wrong password, a disabled account and one without a password get the same answer
 * after the same work.
 */
import type { Logger } from "pino";
import type { Limits } from "../../api/limits.ts";
import type { TokenRequest, TokenResponse } from "../../api/schema/account.ts";
import { AppError } from "../../api/schema/error.ts";
import type { AccountRegistry } from "../accounts/accountRegistry.ts";
import { accountRecord } from "../accounts/records.ts";
import type { Call } from "../calls/call.ts";
import { sessionOf } from "../calls/principal.ts";
import { partitionOfId } from "../ids.ts";
import type { Storage, Stored } from "../storage/port.ts";
import { type AccessWatch, accessFactWrite } from "./accessFacts.ts";
import type { AccessTokens } from "./accessTokens.ts";
import type { Passwords } from "./passwords.ts";
import { type SessionRecord, sessionRecord } from "./records.ts";
import type { RefreshTokens } from "./refreshTokens.ts";
import { hashSecretText, sameHash } from "./secretHash.ts";

export interface Sessions {
  /** Both grants of POST /auth/token. */
  token(call: Pick<Call, "ids" | "limits">, request: TokenRequest): Promise<TokenResponse>;
  /** Ends the session that calls. */
  logout(call: Call): Promise<void>;
}

export interface SessionsOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now">;
  readonly accounts: Pick<AccountRegistry, "find">;
  readonly passwords: Pick<Passwords, "verify">;
  readonly tokens: Pick<AccessTokens, "issue">;
  readonly refreshTokens: RefreshTokens;
  readonly access: Pick<AccessWatch, "announce">;
  readonly log: Logger;
}

function refuseSignIn(): AppError {
  return new AppError("unauthenticated", "The username or the password is wrong.");
}

function refuseRefresh(): AppError {
  return new AppError("unauthenticated", "The refresh token is not valid any more. Sign in with the password.");
}

export function createSessions(options: SessionsOptions): Sessions {
  const { storage, accounts, passwords, tokens, refreshTokens, access } = options;
  const audit = options.log.child({ stream: "audit" });

  async function toResponse(username: string, sessionId: string, refreshToken: string, nowMs: number): Promise<TokenResponse> {
    const { token, expiresInSeconds } = await tokens.issue({ username, sessionId }, nowMs);
    return { accessToken: token, tokenType: "Bearer", expiresIn: expiresInSeconds, refreshToken };
  }

  /** An access token may outlive a very short refresh token; its session must not be gone before it. */
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
    const refreshToken = refreshTokens.create({ sessionId, generation: 1 });
    const value: SessionRecord = {
      sessionId,
      accountId,
      epoch,
      generation: 1,
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
    while (replacing !== undefined) {
      const result = await storage.commit({
        partition,
        records: [{ op: "delete", type: sessionRecord, replacing }],
        logs: [accessFactWrite({ kind: "session.ended", sessionId })],
      });
      if (result.ok) {
        access.announce(partition);
        audit.info({ event: "session.ended", sessionId, reason }, "session ended");
        return;
      }
      replacing = await storage.records.get(sessionRecord, sessionId);
    }
  }

  async function refresh(call: Pick<Call, "limits">, text: string): Promise<TokenResponse> {
    const opened = refreshTokens.open(text);
    if (opened === undefined) throw refuseRefresh();
    const stored = await storage.records.get(sessionRecord, opened.sessionId);
    if (stored === undefined) throw refuseRefresh();
    const session = stored.value;
    if (opened.generation !== session.generation || !sameHash(session.refreshHash, hashSecretText(text))) {
      await end(stored, "refresh token reused");
      throw refuseRefresh();
    }
    const nowMs = storage.now();
    if (session.refreshExpiresAtMs <= nowMs) {
      throw new AppError("token_expired", "The refresh token has expired. Sign in with the password.");
    }
    const account = (await storage.records.get(accountRecord, session.accountId))?.value;
    if (account === undefined || account.disabled || account.sessionEpoch !== session.epoch) throw refuseRefresh();
    const generation = session.generation + 1;
    const refreshToken = refreshTokens.create({ sessionId: session.sessionId, generation });
    const value: SessionRecord = {
      ...session,
      generation,
      refreshHash: hashSecretText(refreshToken),
      refreshExpiresAtMs: refreshExpiry(call.limits, nowMs),
    };
    const result = await storage.commit({
      partition: partitionOfId(session.accountId),
      records: [{ op: "put", type: sessionRecord, value, replacing: stored }],
    });
    // Somebody else used the same token, or ended the session, in this very moment: look again, which decides.
    if (!result.ok) return refresh(call, text);
    return toResponse(account.username, session.sessionId, refreshToken, nowMs);
  }

  return {
    token(call, request) {
      return request.grantType === "password" ? signIn(call, request.username, request.password) : refresh(call, request.refreshToken);
    },
    async logout(call) {
      const { sessionId } = sessionOf(call);
      const stored = await storage.records.get(sessionRecord, sessionId);
      if (stored !== undefined) await end(stored, "logout");
    },
  };
}
