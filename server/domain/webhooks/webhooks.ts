/**
 * This module lets workspace administrators create, list, change and delete webhooks. The secret is returned only when
 * it is created and when it is rotated; the stored secret is sealed.
 *
 * The URL is checked before the records for the commit are read, because the check waits for a name server of a third
 * party. The role of the caller is checked again after that. This module sends no requests.
 */
import type { Logger } from "pino";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { CreateWorkspaceWebhookResponse, UpdateWorkspaceWebhookResponse, WorkspaceWebhook } from "../../../api/schema/webhook.ts";
import { WorkspaceWebhookEventType } from "../../../api/schema/webhook.ts";
import type { DuePump } from "../../platform/actors/duePort.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import type { CheckPublicUrl } from "../../platform/outbound/publicUrl.ts";
import type { Secrets } from "../../platform/secrets.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { RecordWrite, Storage, Stored } from "../../platform/storage/port.ts";
import type { Call } from "../call/call.ts";
import type { Pager } from "../call/paging.ts";
import { requireMatch } from "../call/precondition.ts";
import { principalOf, toActor } from "../call/principal.ts";
import { conflict, retryOnConflict } from "../call/retryOnConflict.ts";
import { requireRole } from "../identity/workspaces/access.ts";
import { workspaceRecord } from "../identity/workspaces/records.ts";
import { webhookPurge } from "./cleanup.ts";
import type { EndpointKind } from "./deliver.ts";
import { type EndpointRecord, endpointRecord, secretBinding, type WebhookRecord, webhookRecord } from "./records.ts";
import { createWebhookSecret } from "./sign.ts";
import { webhooksOf } from "./subscriptions.ts";

export interface WebhookView {
  readonly webhook: WorkspaceWebhook;
  readonly revision: number;
}

export interface UpdatedWebhook {
  readonly webhook: UpdateWorkspaceWebhookResponse;
  readonly revision: number;
}

export interface CreateWebhook {
  readonly url: string;
  readonly events?: readonly WorkspaceWebhookEventType[] | undefined;
}

export interface UpdateWebhook {
  readonly url?: string | undefined;
  readonly events?: readonly WorkspaceWebhookEventType[] | undefined;
  readonly active?: boolean | undefined;
  readonly rotateSecret?: boolean | undefined;
}

export interface Webhooks {
  create(call: Call, workspaceId: string, request: CreateWebhook): Promise<CreateWorkspaceWebhookResponse>;
  list(
    call: Call,
    workspaceId: string,
    query: { readonly limit?: number | undefined; readonly nextToken?: string | undefined },
  ): Promise<{ readonly webhooks: readonly WorkspaceWebhook[]; readonly nextToken?: string }>;
  get(call: Call, workspaceId: string, webhookId: string): Promise<WebhookView>;
  update(call: Call, workspaceId: string, webhookId: string, request: UpdateWebhook): Promise<UpdatedWebhook>;
  /** Deletes the webhook and its delivery log. Queued deliveries are not sent. */
  delete(call: Call, workspaceId: string, webhookId: string): Promise<void>;
}

export interface WebhooksOptions {
  readonly storage: Pick<Storage, "records" | "index" | "now">;
  readonly actors: Pick<ActorRuntime, "openUnit">;
  readonly endpointKind: EndpointKind;
  readonly pump: Pick<DuePump, "wake">;
  readonly checkUrl: CheckPublicUrl;
  readonly secrets: Pick<Secrets, "seal">;
  readonly pager: Pager;
  readonly log: Logger;
}

/** Returns the events in the order of the specification, without duplicates. The default is all events. */
function toEvents(events: readonly WorkspaceWebhookEventType[] | undefined): readonly WorkspaceWebhookEventType[] {
  return WorkspaceWebhookEventType.options.filter((event) => events === undefined || events.includes(event));
}

function toWebhook({ webhookId, workspaceId, url, events, active, createdAtMs, updatedAtMs }: WebhookRecord): WorkspaceWebhook {
  const [createdAt, updatedAt] = [new Date(createdAtMs).toISOString(), new Date(updatedAtMs).toISOString()];
  return { webhookId, workspaceId, url, events: [...events], active, createdAt, updatedAt };
}

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { storage, actors, endpointKind, pump, checkUrl, secrets, pager, log } = options;
  const audit = log.child({ stream: "audit" });

  function note(call: Call, event: string, webhookId: string): void {
    audit.info({ event, webhookId, by: toActor(principalOf(call)) }, event);
  }

  function seal(webhookId: string, secret: string): string {
    return secrets.seal(secretBinding(webhookId), Buffer.from(secret));
  }

  async function requireAdmin(call: Call, workspaceId: string): Promise<void> {
    const workspace = await storage.records.get(workspaceRecord, workspaceId);
    if (workspace === undefined) throw notFound();
    requireRole(call, workspace.value, "admin");
  }

  async function read(workspaceId: string, webhookId: string): Promise<Stored<WebhookRecord>> {
    const stored = await storage.records.get(webhookRecord, webhookId);
    if (stored === undefined || stored.value.workspaceId !== workspaceId) throw notFound();
    return stored;
  }

  /** Records in the endpoint, in the commit of the webhook, whether the webhook was enabled or disabled. */
  async function changeEndpoint(unit: UnitOfWork, webhookId: string, active: boolean): Promise<void> {
    const endpoint = await unit.read(endpointKind, webhookId);
    if (endpoint === undefined || (endpoint.value.state === "disabled") === !active) return;
    await unit.send(endpointKind, webhookId, { type: active ? "webhook.enabled" : "webhook.disabled" });
  }

  return {
    async create(call, workspaceId, request) {
      const { url } = await checkUrl(request.url);
      const most = call.limits["webhook.perWorkspace"];
      const partition = partitionOfId(workspaceId);
      const webhookId = call.ids.next("whk", partition);
      const secret = createWebhookSecret();
      const created = await retryOnConflict(async () => {
        await requireAdmin(call, workspaceId);
        const others = await webhooksOf(storage, workspaceId);
        if (others.length >= most) {
          throw new AppError(
            "limit_reached",
            `The workspace has ${others.length} webhooks; at most ${most} are allowed. Delete one first.`,
          );
        }
        const taken = new Set(others.map(({ value }) => value.slot));
        let slot = 0;
        while (taken.has(slot)) slot += 1;
        const value: WebhookRecord = {
          webhookId,
          workspaceId,
          url: url.href,
          events: toEvents(request.events),
          active: true,
          secret: seal(webhookId, secret),
          slot,
          createdAtMs: call.nowMs,
          updatedAtMs: call.nowMs,
        };
        const unit = actors.openUnit(partition);
        unit.create(endpointKind, webhookId, { webhookId });
        unit.record({ op: "put", type: webhookRecord, value, replacing: null });
        const answer: CreateWorkspaceWebhookResponse = { ...toWebhook(value), secret };
        const result = await unit.commit((batch) => call.commit(batch, answer));
        if (result.ok) return answer;
        // A concurrent creation took the same slot. The retry finds another slot or reaches the limit.
        if (result.conflict.kind === "unique") return conflict;
        throw new Error(`a new webhook met a conflict: ${JSON.stringify(result.conflict)}`);
      });
      note(call, "webhook.created", webhookId);
      return created;
    },

    async list(_call, workspaceId, { limit, nextToken }) {
      const { items, ...rest } = await pager.page<WorkspaceWebhook>({
        scope: "webhooks",
        partition: partitionOfId(workspaceId),
        prefix: ["webhook", workspaceId],
        reverse: true,
        limit,
        nextToken,
        async load(keys) {
          const stored = await storage.records.getMany(webhookRecord, keys);
          return stored.map((found) => (found === undefined ? undefined : toWebhook(found.value)));
        },
      });
      return { webhooks: items, ...rest };
    },

    async get(_call, workspaceId, webhookId) {
      const { value, revision } = await read(workspaceId, webhookId);
      return { webhook: toWebhook(value), revision };
    },

    async update(call, workspaceId, webhookId, request) {
      // Reject a missing webhook or a failed If-Match before the slow DNS lookup.
      requireMatch(call, (await read(workspaceId, webhookId)).revision);
      const checked = request.url === undefined ? undefined : await checkUrl(request.url);
      const secret = request.rotateSecret === true ? createWebhookSecret() : undefined;
      const shown = secret === undefined ? {} : { secret };
      const { updated, changed } = await retryOnConflict(async () => {
        await requireAdmin(call, workspaceId);
        const replacing = await read(workspaceId, webhookId);
        requireMatch(call, replacing.revision);
        const before = replacing.value;
        const after: WebhookRecord = {
          ...before,
          url: checked?.url.href ?? before.url,
          events: request.events === undefined ? before.events : toEvents(request.events),
          active: request.active ?? before.active,
          ...(secret === undefined ? {} : toRotated(before, seal(webhookId, secret), call)),
        };
        if (JSON.stringify(after) === JSON.stringify(before)) {
          return { updated: { webhook: toWebhook(before), revision: replacing.revision }, changed: false };
        }
        const value = { ...after, updatedAtMs: call.nowMs };
        const unit = actors.openUnit(partitionOfId(workspaceId));
        unit.record({ op: "put", type: webhookRecord, value, replacing });
        if (after.active !== before.active) await changeEndpoint(unit, webhookId, after.active);
        const answer = { webhook: { ...toWebhook(value), ...shown }, revision: replacing.revision + 1 };
        const result = await unit.commit((batch) => call.commit(batch, answer));
        return result.ok ? { updated: answer, changed: true } : conflict;
      });
      if (changed) note(call, secret === undefined ? "webhook.updated" : "webhook.rotated", webhookId);
      return updated;
    },

    async delete(call, workspaceId, webhookId) {
      const dueAtMs = storage.now();
      await retryOnConflict(async () => {
        await requireAdmin(call, workspaceId);
        const replacing = await read(workspaceId, webhookId);
        requireMatch(call, replacing.revision);
        const endpoint = await storage.records.get(endpointRecord, webhookId);
        const gone: RecordWrite<WebhookRecord> = { op: "delete", type: webhookRecord, replacing };
        const endpointGone: RecordWrite<EndpointRecord>[] =
          endpoint === undefined ? [] : [{ op: "delete", type: endpointRecord, replacing: endpoint }];
        const result = await call.commit({
          partition: partitionOfId(workspaceId),
          records: [gone, ...endpointGone],
          due: [{ op: "schedule", row: webhookPurge(webhookId, dueAtMs) }],
        });
        return result.ok ? undefined : conflict;
      });
      pump.wake(partitionOfId(workspaceId), dueAtMs);
      note(call, "webhook.deleted", webhookId);
    },
  };
}

function toRotated({ secret }: WebhookRecord, sealed: string, call: Call): Pick<WebhookRecord, "secret" | "previousSecret"> {
  return { secret: sealed, previousSecret: { sealed: secret, validUntilMs: call.nowMs + call.limits["webhook.oldSecret"] } };
}
