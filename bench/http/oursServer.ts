/**
 * Runs our side of the HTTP comparison: the whole app on its host, REST and tRPC, with handlers that answer from
 * memory.
 */
import { pino } from "pino";
import { contract } from "../../api/contract/contract.ts";
import type { OperationSpec } from "../../api/contract/operation.ts";
import { defaultLimits } from "../../api/limits.ts";
import { createApp } from "../../server/edge/app.ts";
import type { PreparedHandler } from "../../server/edge/calls/preparedOperation.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { createReadinessGate } from "../../server/edge/readinessGate.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { accessResolver, authenticator, rate, toArticle } from "./httpWork.ts";

const answering: Record<string, PreparedHandler> = {
  "articles.get": {
    serve: async () => toArticle("How to write together"),
    reply: (value) => ({ status: 200, headers: { etag: '"r41-3"' }, body: value }),
  },
  "articles.create": {
    serve: async ({ body }) => toArticle((body as { title: string }).title),
    reply: (value) => ({ status: 201, headers: { location: "/articles/art_01KAHX0000050123456789ABCD" }, body: value }),
  },
};
const none: PreparedHandler = { serve: async () => undefined, reply: () => ({ status: 500 }) };
const handlers = Object.fromEntries(
  Object.entries(contract).map(([resource, operations]) => [
    resource,
    Object.fromEntries(
      Object.keys(operations as Record<string, OperationSpec>).map((name) => [name, answering[`${resource}.${name}`] ?? none]),
    ),
  ]),
);

const app = createApp({
  contract,
  handlers: handlers as never,
  authenticator,
  access: accessResolver,
  storage: createMemoryStorage(),
  limits: { ...defaultLimits, "rate.default": rate, "rate.writes": rate },
  log: pino({ level: "info" }, pino.destination(2)),
  baseUrl: "http://127.0.0.1:8787",
  node: "bench",
  leaseMs: 5000,
  corsOrigins: [],
  proxyHops: 0,
  routes: [],
  upgrade: () => ({ refuse: { status: 404, headers: {} } }),
});
const gate = createReadinessGate(() => "http://127.0.0.1:8787");
gate.open(app);
const host = await startUwsHost(gate, {
  host: "127.0.0.1",
  port: 0,
  maxFrameBytes: 1024,
  maxBufferedBytes: 1024,
  onError: (error) => console.error(error),
});
process.send?.(host.port);
