/**
 * StreamGate admits readers to live streams and ends their streams when they lose access.
 *
 * It checks the credential (a header or a ticket), then rate, scope and visibility (openAccess.ts).
 * An access lease ends the stream. It begins before the credential is checked, so that no access fact is lost between
 * the check and the admission. The stream ends without an event, and a client that reconnects gets the refusal.
 */
import type { StreamSpec } from "../../../api/contract/operation.ts";
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { Principal } from "../../domain/call/call.ts";
import type { Authenticator } from "../../domain/call/ports.ts";
import {
  type AccessLease,
  type AccessLeases,
  type AccessLeasesOptions,
  createAccessLeases,
  type LeasedResource,
  type LeaseEnd,
  type LeaseHolder,
} from "../../domain/identity/access/accessLease.ts";
import { toCredentialId } from "../calls/credentialId.ts";
import { type OpenAccessOptions, type OpenRules, proveAccess } from "../calls/openAccess.ts";
import type { RequestContext } from "../calls/requestContext.ts";

export interface StreamGateOptions extends AccessLeasesOptions, OpenAccessOptions {
  readonly authenticator: Authenticator;
  readonly tickets: { verify(ticket: string, resource: string): Promise<Principal> };
  readonly limits: Pick<Limits, "sse.credential">;
}

/** `deleted`: the article was deleted, and the reader may still receive its last event. `lost`: the reader gets nothing more. */
export type EndReason = "lost" | "deleted";

/** An admitted reader. The caller must call `leave` when the reader is gone. */
export interface AdmittedReader {
  /** Registers the one listener that is called when the stream must end, at once if it must end already. */
  onEnd(listener: (reason: EndReason) => void): void;
  leave(): void;
}

export interface StreamGate {
  admit(
    spec: StreamSpec,
    context: RequestContext,
    asked: { readonly id: string; readonly ticket: string | undefined } & Pick<OpenRules, "onDraw">,
  ): Promise<AdmittedReader>;
  readonly open: number;
  /** Ends all streams and refuses new readers. Readers may reconnect to another server. */
  close(): void;
}

/** The refusal of a server that is draining. */
export function stopping(): AppError {
  return new AppError("unavailable", "The server is about to stop. Connect again.", { retryAfter: 1 });
}

export function createStreamGate(options: StreamGateOptions): StreamGate {
  const { authenticator, tickets, limits } = options;
  const leases = createAccessLeases(options);
  /** A reader is in the set from the start of its admission until it leaves. */
  const readers = new Set<Reader>();
  const ofCredential = new Map<string, number>();
  let isClosed = false;

  async function authenticate(spec: StreamSpec, context: RequestContext, id: string, ticket: string | undefined): Promise<Principal> {
    if (ticket === undefined) return context.authenticate(authenticator);
    if (context.header("authorization") !== undefined || context.header("x-api-key") !== undefined) {
      throw new AppError("bad_request", "Send either a ticket or a credential in a header, not both.");
    }
    return tickets.verify(ticket, `${spec.resource.kind}:${id}`);
  }

  function countIn(credentialId: string): void {
    const open = ofCredential.get(credentialId) ?? 0;
    if (open >= limits["sse.credential"])
      throw new AppError("rate_limited", "This credential has too many open streams.", { retryAfter: 5 });
    ofCredential.set(credentialId, open + 1);
  }

  function left(reader: Reader): void {
    readers.delete(reader);
    if (reader.counted === undefined) return;
    const open = (ofCredential.get(reader.counted) ?? 1) - 1;
    if (open > 0) ofCredential.set(reader.counted, open);
    else ofCredential.delete(reader.counted);
    reader.counted = undefined;
  }

  return {
    get open() {
      return readers.size;
    },
    async admit(spec, context, { id, ticket, ...rules }) {
      if (isClosed) throw stopping();
      const resource = { kind: spec.resource.kind, id };
      const reader = new Reader(leases, resource, left);
      readers.add(reader);
      reader.lease.begin();
      try {
        const principal = await authenticate(spec, context, id, ticket);
        const deleted = spec.resource.deleted === true;
        const proven = await proveAccess(options, principal, resource, spec.scopes, { ...rules, deleted });
        const credentialId = toCredentialId(principal);
        countIn(credentialId);
        reader.counted = credentialId;
        reader.lease.hold(proven);
        return reader;
      } catch (reason) {
        reader.leave();
        throw reason;
      }
    },
    close() {
      isClosed = true;
      leases.stop();
      for (const reader of [...readers]) reader.end("lost");
    },
  };
}

class Reader implements AdmittedReader, LeaseHolder {
  readonly lease: AccessLease;
  /** Credential whose open streams include this one. */
  counted: string | undefined;
  readonly #left: (reader: Reader) => void;
  #listener: ((reason: EndReason) => void) | undefined;
  #ended: EndReason | undefined;

  constructor(leases: AccessLeases, resource: LeasedResource, left: (reader: Reader) => void) {
    this.#left = left;
    this.lease = leases.take(resource, this);
  }

  changed(): void {}

  ended({ reason }: LeaseEnd): void {
    this.end(reason === "article_deleted" ? "deleted" : "lost");
  }

  end(reason: EndReason): void {
    if (this.#ended === "lost" || this.#ended === reason) return;
    this.#ended = reason;
    this.#listener?.(reason);
  }

  onEnd(listener: (reason: EndReason) => void): void {
    this.#listener = listener;
    if (this.#ended !== undefined) listener(this.#ended);
  }

  leave(): void {
    this.#listener = undefined;
    this.lease.release();
    this.#left(this);
  }
}
