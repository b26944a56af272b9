/**
 * Creates webhooks as a server has them, on a store of the test. The services are wired as in the product, the
 * operations run over a real host, and deliveries go over real TLS to the test's receiver. Only the caller is replaced:
 * the bearer token is a username.
 */
import { pino } from "pino";
import { webhooks as webhookContract } from "../../api/contract/webhooks.ts";
import type { Limits } from "../../api/limits.ts";
import type { WorkspaceWebhookEventType } from "../../api/schema/webhook.ts";
import type { AutoDisable } from "../../machines/endpoint.ts";
import { createAccessResolver } from "../../server/domain/identity/workspaces/access.ts";
import { workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import type { WorkspaceEvent } from "../../server/domain/webhooks/enqueue.ts";
import { type DeliveryRecord, deliveryRecord, webhookRecordTypes } from "../../server/domain/webhooks/records.ts";
import { createWebhookService } from "../../server/domain/webhooks/service.ts";
import { callRecordTypes } from "../../server/edge/calls/records.ts";
import type { OpenUnit } from "../../server/platform/actors/port.ts";
import { createHousekeepingManifest } from "../../server/platform/composition/manifest.ts";
import { createOutbound } from "../../server/platform/outbound/outbound.ts";
import type { Resolve } from "../../server/platform/outbound/resolver.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { type AnyRecordType, createRecordTypes, defineRecord } from "../../server/platform/storage/recordType.ts";
import type { CertificateAuthority } from "../support/certificateAuthority.ts";
import { composeParts } from "../support/composeParts.ts";
import { locateNothing } from "../support/locateNothing.ts";
import { type RequestOptions, startOperationServer, workspaceId } from "../support/operationServer.ts";

const accounts = { ana: "owner", ben: "admin", cal: "member", dan: undefined } as const;
export type Username = keyof typeof accounts;

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

export type WebhookRig = Awaited<ReturnType<typeof createWebhookRig>>;

export async function createWebhookRig(options: WebhookRigOptions) {
  const { storage, leaseMs = 1000, scheduleMs = [0, 20, 40], autoDisable = { onGone: false }, random = () => 0 } = options;
  const logged: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void logged.push(line) });
  const parts = composeParts(storage, { log, leaseMs, pollMs: 20, limits: options.limits });
  const { actors, pump, ids } = parts;
  const outbound = createOutbound({
    limits: parts.limits,
    allowCidrs: options.allowCidrs ?? ["127.0.0.0/8"],
    secureContext: await options.authority?.secureContext(),
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
  });
  const attempts: string[] = [];
  const service = createWebhookService({
    ...parts,
    ...outbound,
    scheduleMs,
    autoDisable,
    random,
    observe: { attempt: (outcome) => void attempts.push(outcome) },
  });
  const { enqueue } = service;
  const ownTypes = rigRecordTypes as readonly AnyRecordType[];
  parts.install([createHousekeepingManifest(storage, createRecordTypes(ownTypes)), service.manifest], ownTypes);
  const server = await startOperationServer({
    parts,
    contract: { webhooks: webhookContract },
    handlers: { webhooks: service.webhooks },
    access: createAccessResolver({ storage, locators: locateNothing }),
    accounts,
    onError: (error) => void logged.push(String(error)),
  });
  pump.start();

  const request = (method: string, path: string, { body, ...more }: RequestOptions<Username> & { readonly body?: unknown } = {}) =>
    server.request(method, path, body, more);

  return {
    storage,
    logged,
    attempts,
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
      await server.close();
      await storage.close();
    },
  };
}
