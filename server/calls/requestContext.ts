/**
 * What a request says of itself before any operation is known: ids for tracing, the API version, the credential.
 * One context serves one HTTP request, also when that carries several calls.
 */
import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { AppError } from "../../api/schema/error.ts";
import type { Principal } from "./call.ts";
import type { Authenticator, PresentedCredential } from "./ports.ts";

export const apiVersion = "2026-11-01";

/** The parts of a host's request that calls read. */
export interface RequestHead {
  readonly path: string;
  readonly remoteAddress: string;
  header(name: string): string | undefined;
}

export interface RequestContext {
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** Path of the request, `instance` of its problems. */
  readonly instance: string;
  /** The client's address, as far as proxies are to be believed. */
  readonly remoteAddress: string;
  header(name: string): string | undefined;
  /** Asked once for a request, however many calls it carries. May refuse in this turn. */
  authenticate(authenticator: Authenticator): Promise<Principal>;
}

const validRequestId = /^[\w.~:@/+=-]{1,128}$/;
const validTraceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** This process, then a count: an id must be unique, nobody is kept out by it. */
const processPrefix = randomBytes(9).toString("base64url");
let requestsNamed = 0;

function nextRequestId(): string {
  requestsNamed += 1;
  return `${processPrefix}.${requestsNamed}`;
}

class Context implements RequestContext {
  readonly requestId: string;
  private readonly head: RequestHead;
  private readonly proxyHops: number;
  private address: string | undefined;
  private principal: Promise<Principal> | undefined;

  constructor(head: RequestHead, proxyHops: number) {
    this.head = head;
    this.proxyHops = proxyHops;
    const given = head.header("x-request-id");
    this.requestId = given !== undefined && validRequestId.test(given) ? given : nextRequestId();
  }

  get traceparent(): string | undefined {
    const given = this.head.header("traceparent");
    return given !== undefined && validTraceparent.test(given) ? given : undefined;
  }

  get instance(): string {
    return this.head.path;
  }

  get remoteAddress(): string {
    this.address ??= toClientAddress(this.head, this.proxyHops);
    return this.address;
  }

  header(name: string): string | undefined {
    return this.head.header(name);
  }

  authenticate(authenticator: Authenticator): Promise<Principal> {
    this.principal ??= authenticator.authenticate(toCredential(this.head));
    return this.principal;
  }
}

/** `proxyHops`: how many proxies in front of the server are trusted to have appended to `X-Forwarded-For`. */
export function createRequestContext(head: RequestHead, proxyHops: number): RequestContext {
  return new Context(head, proxyHops);
}

/** Refuses versions this server does not speak. */
export function checkApiVersion(context: Pick<RequestContext, "header">): void {
  const version = context.header("x-svc-api-version");
  if (version === undefined || version === apiVersion) return;
  throw new AppError("unknown_api_version", `The header x-svc-api-version must be ${apiVersion}, the only version there is.`);
}

/** The credential of a request; two at once are refused, for nobody could say which one counts. */
export function toCredential(head: Pick<RequestHead, "header">): PresentedCredential {
  const apiKey = head.header("x-api-key");
  const authorization = head.header("authorization");
  if (apiKey !== undefined && authorization !== undefined) {
    throw new AppError("bad_request", "Send either x-api-key or Authorization, not both.");
  }
  if (apiKey !== undefined) return { apiKey };
  if (authorization === undefined) {
    throw new AppError("unauthenticated", "This needs a credential: an API key in x-api-key, or an access token as Authorization: Bearer.");
  }
  const bearer = /^Bearer +([^\s,]+)$/i.exec(authorization)?.[1];
  if (bearer === undefined) throw new AppError("unauthenticated", "The header Authorization must be 'Bearer' and an access token.");
  return { bearer };
}

function toClientAddress(head: RequestHead, proxyHops: number): string {
  if (proxyHops === 0) return head.remoteAddress;
  const hops = (head.header("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim());
  // The nearest proxy wrote the last entry; what lies further left than the trusted ones is the client's own word.
  const claimed = hops[hops.length - proxyHops] ?? hops[0] ?? "";
  return isIP(claimed) === 0 ? head.remoteAddress : claimed;
}
