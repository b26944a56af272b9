/**
 * StreamGate admits readers to live streams and ends their streams when they lose access.
 *
 * It checks credential (a header or a ticket), rate, scope and visibility, in the same order as every other surface.
 * While a stream is open, it applies the access facts that arrive. Facts that arrive during the admission are queued
 * and applied after it, so that no fact is lost between the access check and the admission.
 */

import type { StreamSpec } from "../../../api/contract/operation.ts";
import type { Limits } from "../../../api/limits.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import { missingScopes } from "../../../api/scopes.ts";
import type { Clock } from "../../../realtime/ports.ts";
import type { Access, Principal } from "../../domain/call/call.ts";
import type { AccessResolver, Authenticator } from "../../domain/call/ports.ts";
import type { AccessFact, AccessWatch } from "../../domain/identity/access/accessFacts.ts";
import type { RateLimits } from "../calls/rateLimits.ts";
import type { RequestContext } from "../calls/requestContext.ts";
import { toCredentialId } from "../calls/wrapper.ts";

export interface StreamGateOptions {
  readonly authenticator: Authenticator;
  readonly tickets: { verify(ticket: string, resource: string): Promise<Principal> };
  readonly access: AccessResolver;
  readonly accessWatch: Pick<AccessWatch, "subscribe">;
  readonly rateLimits: RateLimits;
  readonly limits: Pick<Limits, "sse.credential">;
  readonly clock: Clock;
}

/** An admitted reader. `signal` aborts when the stream must end. The caller must call `leave` when the reader is gone. */
export interface AdmittedReader {
  readonly access: Access;
  /** Value of the `ratelimit-policy` header for the credential of the reader. Empty if the limit is off. */
  readonly ratePolicy: string;
  readonly signal: AbortSignal;
  leave(): void;
}

export interface StreamGate {
  admit(
    spec: StreamSpec,
    context: RequestContext,
    asked: { readonly id: string; readonly ticket: string | undefined; readonly gone: AbortSignal },
  ): Promise<AdmittedReader>;
  readonly open: number;
  /** Ends all streams and refuses new readers. Readers may reconnect to another server. */
  close(): void;
}

/** One day in ms. A Node timer cannot exceed 2^31 ms, so a later expiry is awaited in steps. */
const longestTimerMs = 24 * 60 * 60 * 1000;

interface Reader {
  note(fact: AccessFact): void;
  readonly end: AbortController;
}

export function createStreamGate(options: StreamGateOptions): StreamGate {
  const { authenticator, tickets, access, accessWatch, rateLimits, limits, clock } = options;
  const readers = new Set<Reader>();
  const ofCredential = new Map<string, number>();
  let isClosed = false;

  const unsubscribe = accessWatch.subscribe(
    (fact) => {
      for (const reader of [...readers]) reader.note(fact);
    },
    // The watch may have missed facts: end all streams. A reader that reconnects is checked again.
    () => {
      for (const { end } of [...readers]) end.abort();
    },
  );

  async function authenticate(spec: StreamSpec, context: RequestContext, id: string, ticket: string | undefined): Promise<Principal> {
    if (ticket === undefined) return context.authenticate(authenticator);
    if (context.header("authorization") !== undefined || context.header("x-api-key") !== undefined) {
      throw new AppError("bad_request", "Send either a ticket or a credential in a header, not both.");
    }
    return tickets.verify(ticket, `${spec.resource.kind}:${id}`);
  }

  function requireScope({ scopes }: StreamSpec, principal: Principal): void {
    const missing = missingScopes(principal.kind === "key" ? principal.scopes : undefined, scopes);
    if (missing.length === 0) return;
    const facts = { requiredScopes: [...scopes], missingScopes: [...missing] };
    throw new AppError("insufficient_scope", `This API key lacks the scope ${missing.join(", ")}.`, facts);
  }

  function countIn(credentialId: string): () => void {
    const open = ofCredential.get(credentialId) ?? 0;
    if (open >= limits["sse.credential"])
      throw new AppError("rate_limited", "This credential has too many open streams.", { retryAfter: 5 });
    ofCredential.set(credentialId, open + 1);
    return () => {
      const left = (ofCredential.get(credentialId) ?? 1) - 1;
      if (left > 0) ofCredential.set(credentialId, left);
      else ofCredential.delete(credentialId);
    };
  }

  /** Ends the stream if a fact takes the access away. If a fact only may do so, the access is resolved again. */
  function toReader(spec: StreamSpec, id: string, end: AbortController) {
    const early: AccessFact[] = [];
    let admitted: { readonly principal: Principal; readonly workspaceId: string } | undefined;

    function look(principal: Principal): void {
      access.resolve(principal, spec.resource.kind, id, { deleted: false }).then(
        (found) => {
          if (found === undefined) end.abort();
        },
        // Fail closed: a failed access check counts as lost access.
        () => end.abort(),
      );
    }

    function hold(fact: AccessFact, principal: Principal, workspaceId: string): void {
      if (fact.kind === "key.revoked" && principal.kind === "key" && principal.keyId === fact.keyId) end.abort();
      if (fact.kind === "session.ended" && principal.kind === "session" && principal.sessionId === fact.sessionId) end.abort();
      if (fact.kind === "account.disabled" && principal.accountId === fact.accountId) end.abort();
      if (fact.kind === "membership.changed" && principal.accountId === fact.accountId && workspaceId === fact.workspaceId) look(principal);
    }

    function watchExpiry(principal: Principal): void {
      if (principal.kind !== "key" || principal.expiresAtMs === undefined || end.signal.aborted) return;
      const { expiresAtMs } = principal;
      let cancel = () => {};
      const wait = () => {
        const leftMs = expiresAtMs - clock.now();
        if (leftMs <= 0) end.abort();
        else cancel = clock.after(Math.min(leftMs, longestTimerMs), wait);
      };
      wait();
      end.signal.addEventListener("abort", () => cancel(), { once: true });
    }

    return {
      end,
      note(fact: AccessFact): void {
        if (admitted === undefined) early.push(fact);
        else hold(fact, admitted.principal, admitted.workspaceId);
      },
      admit(principal: Principal, workspaceId: string): void {
        admitted = { principal, workspaceId };
        watchExpiry(principal);
        for (const fact of early) hold(fact, principal, workspaceId);
      },
    };
  }

  return {
    get open() {
      return readers.size;
    },
    async admit(spec, context, { id, ticket, gone }) {
      const end = new AbortController();
      const reader = toReader(spec, id, end);
      let uncount = () => {};
      const leave = () => {
        readers.delete(reader);
        gone.removeEventListener("abort", leave);
        uncount();
        uncount = () => {};
        end.abort();
      };
      if (isClosed) throw new AppError("unavailable", "The server is about to stop. Connect again.", { retryAfter: 1 });
      readers.add(reader);
      try {
        const principal = await authenticate(spec, context, id, ticket);
        const credentialId = toCredentialId(principal);
        const { policy, refusal } = await rateLimits.draw(["rate.connects"], credentialId);
        if (refusal !== undefined) throw refusal;
        requireScope(spec, principal);
        const found = await access.resolve(principal, spec.resource.kind, id, { deleted: false });
        if (found === undefined) throw notFound();
        uncount = countIn(credentialId);
        reader.admit(principal, found.workspaceId);
        if (gone.aborted) leave();
        else gone.addEventListener("abort", leave, { once: true });
        return { access: found, ratePolicy: policy, signal: end.signal, leave };
      } catch (reason) {
        leave();
        throw reason;
      }
    },
    close() {
      isClosed = true;
      unsubscribe();
      for (const { end } of [...readers]) end.abort();
    },
  };
}
