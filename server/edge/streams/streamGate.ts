/**
 * StreamGate admits readers to live streams and ends their streams when they lose access.
 *
 * It checks credential (a header or a ticket), rate, scope and visibility, in the same order as every other surface.
 * An access lease ends the stream. It begins before the credential is checked, so that no access fact is lost between
 * the check and the admission. The stream ends without an event, and a client that reconnects gets the refusal.
 */
import type { StreamSpec } from "../../../api/contract/operation.ts";
import type { Limits } from "../../../api/limits.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import { missingScopes } from "../../../api/scopes.ts";
import type { Access, Principal } from "../../domain/call/call.ts";
import type { Authenticator } from "../../domain/call/ports.ts";
import { type AccessLeasesOptions, createAccessLeases } from "../../domain/identity/access/accessLease.ts";
import { toCredentialId } from "../calls/credentialId.ts";
import type { RateLimits } from "../calls/rateLimits.ts";
import type { RequestContext } from "../calls/requestContext.ts";

export interface StreamGateOptions extends AccessLeasesOptions {
  readonly authenticator: Authenticator;
  readonly tickets: { verify(ticket: string, resource: string): Promise<Principal> };
  readonly rateLimits: RateLimits;
  readonly limits: Pick<Limits, "sse.credential">;
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

export function createStreamGate(options: StreamGateOptions): StreamGate {
  const { authenticator, tickets, access, rateLimits, limits } = options;
  const leases = createAccessLeases(options);
  /** Ends the stream of one reader. A reader is in the set from the start of its admission until it leaves. */
  const readers = new Set<AbortController>();
  const ofCredential = new Map<string, number>();
  let isClosed = false;

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

  return {
    get open() {
      return readers.size;
    },
    async admit(spec, context, { id, ticket, gone }) {
      if (isClosed) throw new AppError("unavailable", "The server is about to stop. Connect again.", { retryAfter: 1 });
      const end = new AbortController();
      const lease = leases.take({ kind: spec.resource.kind, id }, { changed: () => {}, ended: () => end.abort() });
      let uncount = () => {};
      const leave = () => {
        readers.delete(end);
        lease.release();
        gone.removeEventListener("abort", leave);
        uncount();
        uncount = () => {};
        end.abort();
      };
      readers.add(end);
      lease.begin();
      try {
        const principal = await authenticate(spec, context, id, ticket);
        const credentialId = toCredentialId(principal);
        const { policy, refusal } = await rateLimits.draw(["rate.connects"], credentialId);
        if (refusal !== undefined) throw refusal;
        requireScope(spec, principal);
        const found = await access.resolve(principal, spec.resource.kind, id, { deleted: false });
        if (found === undefined) throw notFound();
        uncount = countIn(credentialId);
        lease.hold({ principal, access: found });
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
      leases.stop();
      for (const end of [...readers]) end.abort();
    },
  };
}
