/**
 * Creates webhooks as a server has them, on a store of the test. The services are wired as in the product, the
 * operations run over a real host, and deliveries go over real TLS to the test's receiver. Only the caller is replaced:
 * the bearer token is a username.
 */
import { pino } from "pino";
import { webhooks as webhookContract } from "../../api/contract/webhooks.ts";
import { defaultLimits, type Limits } from "../../api/limits.ts";
import { AppError } from "../../api/schema/error.ts";
import type { WorkspaceWebhookEventType } from "../../api/schema/webhook.ts";
import type { Scope } from "../../api/scopes.ts";
import type { AutoDisable } from "../../machines/endpoint.ts";
import type { Principal } from "../../server/domain/call/call.ts";
import { createPager } from "../../server/domain/call/paging.ts";
import { createAccessResolver } from "../../server/domain/identity/workspaces/access.ts";
import { type WorkspaceRecord, workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import { createWebhookCleanup } from "../../server/domain/webhooks/cleanup.ts";
import { createWebhookActorKinds } from "../../server/domain/webhooks/deliver.ts";
import { createEnqueue, type WorkspaceEvent } from "../../server/domain/webhooks/enqueue.ts";
import { type DeliveryRecord, deliveryRecord, webhookRecordTypes } from "../../server/domain/webhooks/records.ts";
import { createWebhooks } from "../../server/domain/webhooks/webhooks.ts";
import { createApp } from "../../server/edge/app.ts";
import { callRecordTypes } from "../../server/edge/calls/records.ts";
import { startNodeHost } from "../../server/edge/host/node.ts";
import { createDuePump } from "../../server/platform/actors/due.ts";
import type { OpenUnit } from "../../server/platform/actors/port.ts";
import { createActorRuntime } from "../../server/platform/actors/runtime.ts";
import { createOutboundFetch } from "../../server/platform/outbound/fetch.ts";
import { createPublicAddresses } from "../../server/platform/outbound/publicAddress.ts";
import { createCheckPublicUrl } from "../../server/platform/outbound/publicUrl.ts";
import { createResolve, type Resolve } from "../../server/platform/outbound/resolver.ts";
import { deriveSecrets } from "../../server/platform/secrets.ts";
import { createHousekeeping, housekeepingKinds } from "../../server/platform/storage/housekeeping.ts";
import { createIds, partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createRecordTypes, defineRecord } from "../../server/platform/storage/recordType.ts";
import type { CertificateAuthority } from "../support/certificateAuthority.ts";

export const workspaceId = "ws_01KAHX0000050123456789ABCD";
export const otherWorkspaceId = "ws_01KAHX0000070123456789ABCD";
const accounts = { ana: "owner", ben: "admin", cal: "member", dan: undefined } as const;
export type Username = keyof typeof accounts;
const accountIdOf = (username: string) => `usr_01KAHX0000030123456789AB${username.slice(0, 2).toUpperCase()}`;

/** Represents the record that a real commit changes together with its deliveries. */
export const happening = defineRecord<{ readonly id: string; readonly name: string }>({
  name: "happening",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.id,
});

export const rigRecordTypes = [happening, workspaceRecord, ...webhookRecordTypes, ...callRecordTypes];

export interface WebhookRigOptions {
  readonly storage: Storage;
  readonly authority?: CertificateAuthority;
  readonly limits?: Partial<Limits>;
  readonly scheduleMs?: readonly number[];
  readonly autoDisable?: AutoDisable;
  readonly allowCidrs?: readonly string[];
  readonly resolve?: Resolve;
  readonly leaseMs?: number;
  readonly random?: () => number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  readonly body: any;
}

export type WebhookRig = Awaited<ReturnType<typeof createWebhookRig>>;

export async function createWebhookRig(options: WebhookRigOptions) {
  const { storage, leaseMs = 1000, scheduleMs = [0, 20, 40], autoDisable = { onGone: false }, random = () => 0 } = options;
  const limits: Limits = { ...defaultLimits, ...options.limits };
  const logged: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void logged.push(line) });
  const secrets = deriveSecrets([Buffer.alloc(32, 7)]);
  const pump = createDuePump({ storage, log, leaseMs, pollMs: 20 });
  const actors = createActorRuntime({ storage, pump, log, leaseMs });
  const checkUrl = createCheckPublicUrl({
    addresses: createPublicAddresses(options.allowCidrs ?? ["127.0.0.0/8"]),
    resolve: options.resolve ?? createResolve(),
    maxLength: limits["webhook.url"],
    resolveTimeoutMs: limits["webhook.connectMs"],
  });
  const secureContext = await options.authority?.secureContext();
  const attempts: string[] = [];
  const { deliveryKind, endpointKind } = createWebhookActorKinds({
    storage,
    actors,
    fetch: createOutboundFetch({ checkUrl, ...(secureContext === undefined ? {} : { secureContext }) }),
    secrets,
    limits,
    log,
    scheduleMs,
    autoDisable,
    random,
    observe: { attempt: (outcome) => void attempts.push(outcome) },
  });
  actors.register([deliveryKind, endpointKind]);
  for (const [kind, worker] of Object.entries(createWebhookCleanup({ storage, actors, deliveryKind }))) pump.register(kind, worker);
  const keepHouse = createHousekeeping(storage, createRecordTypes(rigRecordTypes as never));
  for (const kind of housekeepingKinds) pump.register(kind, keepHouse);
  const pager = createPager({ storage, pageKey: secrets.pageKey, limits });
  const webhooks = createWebhooks({ storage, actors, endpointKind, pump, checkUrl, secrets, pager, log });
  const { enqueue } = createEnqueue({ storage, deliveryKind, limits });
  const ids = createIds(storage);

  const members = Object.entries(accounts).flatMap(([username, role]) =>
    role === undefined ? [] : [{ accountId: accountIdOf(username), username, role }],
  );
  for (const id of [workspaceId, otherWorkspaceId]) {
    if ((await storage.records.get(workspaceRecord, id)) !== undefined) continue;
    const value: WorkspaceRecord = {
      workspaceId: id,
      name: "Works",
      type: "team",
      owner: accountIdOf("ana"),
      members: id === workspaceId ? members : members.slice(0, 1),
      createdAt: 1,
      updatedAt: 1,
    };
    await storage.commit({ partition: partitionOfId(id), records: [{ op: "put", type: workspaceRecord, value, replacing: null }] });
  }

  const app = createApp({
    contract: { webhooks: webhookContract } as never,
    handlers: { webhooks } as never,
    authenticator: {
      async authenticate({ apiKey, bearer }): Promise<Principal> {
        const [username = "", scopes] = (apiKey ?? bearer ?? "").split("|");
        if (!(username in accounts)) throw new AppError("unauthenticated", "No such credential.");
        const account = { accountId: accountIdOf(username), username };
        if (apiKey === undefined) return { kind: "session", ...account, operator: false, sessionId: `ses_${username}` };
        return { kind: "key", ...account, operator: false, keyId: "key_1", scopes: (scopes ?? "").split(",").filter(Boolean) as Scope[] };
      },
    },
    access: createAccessResolver({ storage, locateArticle: async () => undefined, locateRun: async () => undefined }),
    storage,
    limits,
    log,
    baseUrl: "https://svc.example",
    node: "node-1",
    leaseMs,
    corsOrigins: [],
    proxyHops: 0,
    routes: [],
    upgrade: () => ({ refuse: { status: 404, headers: {} } }),
  });
  const host = await startNodeHost(app, {
    host: "127.0.0.1",
    port: 0,
    maxFrameBytes: 1024,
    maxBufferedBytes: 1024,
    onError: (error) => void logged.push(String(error)),
  });
  pump.start();

  async function request(
    method: string,
    path: string,
    { as = "ana", key, body, headers = {} }: { as?: Username; key?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${host.port}${path}`, {
      method,
      headers: {
        ...(key === undefined ? { authorization: `Bearer ${as}` } : { "x-api-key": key }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  }

  return {
    storage,
    logged,
    attempts,
    deliveryKind,
    request,
    path: (webhookId = "", workspace = workspaceId) => `/workspaces/${workspace}/webhooks${webhookId === "" ? "" : `/${webhookId}`}`,
    /** Creates a webhook over REST; fails unless it is created. */
    async make(url: string, events?: readonly string[], workspace = workspaceId): Promise<{ webhookId: string; secret: string }> {
      const made = await request("POST", `/workspaces/${workspace}/webhooks`, {
        body: { url, ...(events === undefined ? {} : { events }) },
      });
      if (made.status !== 201) throw new Error(JSON.stringify(made.body));
      return made.body;
    },
    /** Commits an event together with its deliveries; resolves with the id of the event. */
    async happen(
      data: object = { title: "A" },
      event: WorkspaceWebhookEventType = "article.updated",
      workspace = workspaceId,
      traceparent?: string,
    ): Promise<string> {
      const partition = partitionOfId(workspace);
      const unit = actors.openUnit(partition);
      await enqueue(unit, { workspaceId: workspace, event, createdAtMs: storage.now(), ids, data, traceparent });
      const id = ids.next("cmt", partition);
      unit.record({ op: "put", type: happening, value: { id, name: "happened" }, replacing: null });
      if (!(await unit.commit((batch) => storage.commit(batch))).ok) throw new Error("nothing happened");
      return id;
    },
    async enqueue(event: WorkspaceEvent): Promise<OpenUnit> {
      const unit = actors.openUnit(partitionOfId(event.workspaceId));
      await enqueue(unit, event);
      return unit;
    },
    async deliveries(webhookId: string): Promise<readonly DeliveryRecord[]> {
      const scan = { partition: partitionOfId(webhookId), prefix: ["delivery.webhook", webhookId] as const, limit: 10_000 };
      const rows = await storage.index.scan(scan);
      const found = await storage.records.getMany(
        deliveryRecord,
        rows.map((row) => row.target),
      );
      return found.flatMap((stored) => (stored === undefined ? [] : [stored.value]));
    },
    async close() {
      await pump.drain(AbortSignal.abort());
      await host.close();
      await storage.close();
    },
  };
}
