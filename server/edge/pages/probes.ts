/**
 * Probes serves `/healthz` (the process answers), `/readyz` (the process should get traffic) and `/metrics`.
 *
 * With the operator token `/readyz` returns more details. Without it `/metrics` answers 401. The probes must have no
 * side effects.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { AppError } from "../../../api/schema/error.ts";
import type { Metrics } from "../../platform/observability/metrics.ts";
import { type Storage, StorageUnavailableError } from "../../platform/storage/port.ts";
import type { HttpReply, HttpRequest } from "../host/port.ts";
import type { Route } from "../host/router.ts";

export interface ProbeOptions {
  readonly storage: Pick<Storage, "status" | "due" | "now">;
  /** False while the server starts or drains. */
  readonly isServing: () => boolean;
  readonly metrics: Pick<Metrics, "render" | "contentType">;
  readonly deviations: readonly { readonly name: string; readonly value?: string }[];
  readonly operatorToken: string | undefined;
  /** Progress of the search index of this node. It does not count for readiness: searches work while it is built. */
  readonly searchProgress: () => object;
  readonly version: string;
}

export function createProbeRoutes(options: ProbeOptions): readonly Route[] {
  const isOperator = toOperatorCheck(options.operatorToken);

  async function metrics(request: HttpRequest): Promise<HttpReply> {
    if (!isOperator(request)) {
      const detail =
        options.operatorToken === undefined
          ? "The metrics are disabled because the setting OPERATOR_TOKEN is not set."
          : "The metrics need the operator token as a bearer token.";
      throw new AppError("unauthenticated", detail);
    }
    return { status: 200, headers: { "content-type": options.metrics.contentType, ...uncached }, body: await options.metrics.render() };
  }

  return [
    { method: "GET", path: "/healthz", handle: () => toReply(200, { status: "ok" }) },
    { method: "GET", path: "/readyz", handle: async (request) => readiness(options, isOperator(request)) },
    { method: "GET", path: "/metrics", handle: metrics },
  ];
}

/** Returns the answer of `/readyz` before the store is open. */
export function notReadyYet(): HttpReply {
  return toReply(503, { status: "not_ready", writes: "refused", deviations: [] });
}

async function readiness(options: ProbeOptions, long: boolean): Promise<HttpReply> {
  const { storage, isServing, searchProgress, version } = options;
  const { kind, durable, reason, writes, usedMiB, maxMiB, diskFreeMiB, storeVersion } = await storage.status();
  const deviations = [
    ...options.deviations,
    ...(durable ? [] : [{ name: "store.durable", value: `false${reason === undefined ? "" : `: ${reason}`}` }]),
  ];
  const ready = isServing() && writes === "ok";
  const short = {
    status: ready ? "ready" : "not_ready",
    writes,
    deviations: long ? deviations : deviations.map(({ name }) => ({ name })),
  };
  if (!long) return toReply(ready ? 200 : 503, short);
  const due = await readDue(storage);
  return toReply(ready ? 200 : 503, {
    ...short,
    store: { kind, durable, reason, usedMiB, maxMiB },
    due,
    ...(diskFreeMiB === undefined ? {} : { disk: { freeMiB: diskFreeMiB } }),
    search: searchProgress(),
    version,
    storeVersion,
  });
}

/** Returns undefined while the store is unavailable, because `/readyz` must report that state and not fail itself. */
async function readDue(storage: ProbeOptions["storage"]): Promise<{ oldestSeconds: number; rows: number } | undefined> {
  try {
    const { rows, oldestDueAtMs } = await storage.due.stats();
    return { oldestSeconds: oldestDueAtMs === undefined ? 0 : Math.max(0, (storage.now() - oldestDueAtMs) / 1000), rows };
  } catch (reason) {
    if (reason instanceof StorageUnavailableError) return undefined;
    throw reason;
  }
}

const uncached = { "cache-control": "no-store" };

function toReply(status: number, body: object): HttpReply {
  return { status, headers: { "content-type": "application/json", ...uncached }, body: JSON.stringify(body) };
}

/**
 * Returns the check for the operator token. It compares digests, so that the response time reveals nothing about the
 * token. If no token is configured, every request fails the check.
 */
function toOperatorCheck(token: string | undefined): (request: HttpRequest) => boolean {
  if (token === undefined) return () => false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(token);
  return (request) => {
    const given = /^Bearer +(\S+)$/i.exec(request.header("authorization") ?? "")?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}
