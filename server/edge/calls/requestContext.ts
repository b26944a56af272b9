/**
 * `createRequestContext` reads the parts of a request that do not depend on an operation: request id, trace id, client
 * address and credential.
 *
 * One HTTP request has one context, also if it is a batch of several calls. The context knows no operations.
 */
import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { AppError } from "../../../api/schema/error.ts";
import type { Principal } from "../../domain/call/call.ts";
import type { Authenticator, PresentedCredential } from "../../domain/call/ports.ts";
import type { HeaderName } from "../host/port.ts";

export const apiVersion = "2026-11-01";

/** Parts of the host's request that a call reads. */
export interface RequestSource {
  readonly path: string;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
  header(name: HeaderName): string | undefined;
}

export interface RequestContext {
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** Path of the request; used as `instance` in problem answers. */
  readonly instance: string;
  /** Address of the client. `X-Forwarded-For` is used only as far as the proxies are trusted. */
  readonly remoteAddress: string;
  /** Aborts with `ClientGone` if the client disconnects before the answer is complete. */
  readonly signal: AbortSignal;
  header(name: HeaderName): string | undefined;
  /** Authenticates the request once and returns the same promise to later calls. Throws synchronously without a usable credential. */
  authenticate(authenticator: Authenticator): Promise<Principal>;
}

const validRequestId = /^[\w.~:@/+=-]{1,128}$/;
const validTraceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Random prefix of this process. A counter follows it: request ids must be unique, but need not be unguessable. */
const processPrefix = randomBytes(9).toString("base64url");
let requestsNamed = 0;

function nextRequestId(): string {
  requestsNamed += 1;
  return `${processPrefix}.${requestsNamed}`;
}

class Context implements RequestContext {
  readonly requestId: string;
  private readonly head: RequestSource;
  private readonly proxyHops: number;
  private address: string | undefined;
  private principal: Promise<Principal> | undefined;

  constructor(head: RequestSource, proxyHops: number) {
    this.head = head;
    this.proxyHops = proxyHops;
    const given = head.header("x-request-id");
    this.requestId = given !== undefined && validRequestId.test(given) ? given : nextRequestId();
  }

  get traceparent(): string | undefined {
    const given = this.head.header("traceparent");
    return given !== undefined && validTraceparent.test(given) ? given : undefined;
  }

  get signal(): AbortSignal {
    return this.head.signal;
  }

  get instance(): string {
    return this.head.path;
  }

  get remoteAddress(): string {
    this.address ??= toClientAddress(this.head, this.proxyHops);
    return this.address;
  }

  header(name: HeaderName): string | undefined {
    return this.head.header(name);
  }

  authenticate(authenticator: Authenticator): Promise<Principal> {
    this.principal ??= authenticator.authenticate(toCredential(this.head));
    return this.principal;
  }
}

/** `proxyHops` is the number of trusted proxies in front of the server. Each appends one entry to `X-Forwarded-For`. */
export function createRequestContext(head: RequestSource, proxyHops: number): RequestContext {
  return new Context(head, proxyHops);
}

/** Throws `unknown_api_version` if the request asks for another API version. */
export function checkApiVersion(context: Pick<RequestContext, "header">): void {
  const version = context.header("x-svc-api-version");
  if (version === undefined || version === apiVersion) return;
  throw new AppError("unknown_api_version", `The header x-svc-api-version must be ${apiVersion}, the only supported version.`);
}

/** Returns the credential of a request. Two credentials are refused, because it is unclear which one applies. */
export function toCredential(head: Pick<RequestSource, "header">): PresentedCredential {
  const apiKey = head.header("x-api-key");
  const authorization = head.header("authorization");
  if (apiKey !== undefined && authorization !== undefined) {
    throw new AppError("bad_request", "Send either x-api-key or Authorization, not both.");
  }
  if (apiKey !== undefined) return { apiKey };
  if (authorization === undefined) {
    throw new AppError(
      "unauthenticated",
      "This operation needs a credential: an API key in x-api-key, or an access token as Authorization: Bearer.",
    );
  }
  const bearer = /^Bearer +([^\s,]+)$/i.exec(authorization)?.[1];
  if (bearer === undefined) throw new AppError("unauthenticated", "The header Authorization must be 'Bearer' and an access token.");
  return { bearer };
}

function toClientAddress(head: RequestSource, proxyHops: number): string {
  if (proxyHops === 0) return head.remoteAddress;
  const hops = (head.header("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim());
  // The nearest proxy wrote the last entry. Entries left of the trusted ones come from the client and prove nothing.
  const claimed = hops[hops.length - proxyHops] ?? hops[0] ?? "";
  return isIP(claimed) === 0 ? head.remoteAddress : claimed;
}
