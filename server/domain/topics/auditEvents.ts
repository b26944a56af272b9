/**
 * Lists the audit events of topics, newest first.
 *
 * Events of one topic are in the order of its history; events of a workspace are in order of time.
 */
import type { ContentAuditEvent, ContentAuditEventType } from "../../../api/schema/topicAudit.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { Page, PageQuery, Pager } from "../call/paging.ts";
import { auditLists, type ContentAuditRecord, contentAuditRecord } from "./records.ts";

export interface AuditFilter extends PageQuery {
  readonly eventType?: readonly ContentAuditEventType[] | undefined;
  /** Username. */
  readonly actorId?: string | undefined;
  /** Unix seconds; both bounds are inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface AuditEvents {
  ofTopic(topicId: string, filter: AuditFilter): Promise<Page<ContentAuditEvent>>;
  ofWorkspace(workspaceId: string, filter: AuditFilter): Promise<Page<ContentAuditEvent>>;
}

export function toAuditEvent({ eventAtMs, place: _place, workspaceId: _workspaceId, ...event }: ContentAuditRecord): ContentAuditEvent {
  return { ...event, eventAt: eventAtMs / 1000 } as ContentAuditEvent;
}

export function createAuditEvents({ storage, pager }: { readonly storage: Pick<Storage, "records">; readonly pager: Pager }): AuditEvents {
  function page(ofId: string, prefix: Parameters<Pager["page"]>[0]["prefix"], filter: AuditFilter, bounded: boolean) {
    const { eventType, actorId, from, to, limit, nextToken } = filter;
    const tests: ((event: ContentAuditEvent) => boolean)[] = [];
    if (eventType !== undefined) tests.push((event) => eventType.includes(event.eventType));
    if (actorId !== undefined) tests.push((event) => event.actorId === actorId.toLowerCase());
    if (!bounded && from !== undefined) tests.push((event) => event.eventAt >= from);
    if (!bounded && to !== undefined) tests.push((event) => event.eventAt <= to);
    return pager.page<ContentAuditEvent>({
      scope: `audit?${JSON.stringify([eventType ?? null, actorId ?? null, from ?? null, to ?? null])}`,
      partition: partitionOfId(ofId),
      prefix,
      reverse: true,
      within: bounded && (from !== undefined || to !== undefined) ? { from: toMs(from), to: toMs(to) } : undefined,
      limit,
      nextToken,
      load: async (keys) => {
        const stored = await storage.records.getMany(contentAuditRecord, keys);
        return stored.map((event) => (event === undefined ? undefined : toAuditEvent(event.value)));
      },
      keep: tests.length === 0 ? undefined : (event) => tests.every((test) => test(event)),
    });
  }
  return {
    ofTopic: (topicId, filter) => page(topicId, auditLists.topic(topicId), filter, false),
    ofWorkspace: (workspaceId, filter) => page(workspaceId, auditLists.workspace(workspaceId), filter, true),
  };
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}
