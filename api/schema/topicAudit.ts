/**
 * Defines the audit events of topics, as the specification states them (Content audit event). The audit is append-only,
 * and the schema refuses unknown fields.
 */
import { z } from "zod";
import { text, unixSeconds } from "./common.ts";
import { idText } from "./id.ts";

export const auditEventTypes = [
  "topic_created",
  "topic_updated",
  "topic_shortlisted",
  "topic_archived",
  "topic_restored",
  "outline_generated",
  "outline_approved",
  "outline_changes_requested",
  "draft_generated",
  "draft_approved",
  "draft_changes_requested",
  "pipeline_stage_completed",
] as const;
export const ContentAuditEventType = z.enum(auditEventTypes).meta({ id: "ContentAuditEventType", description: "Type of the event." });
export type ContentAuditEventType = z.infer<typeof ContentAuditEventType>;

/** `eventId` makes the write of the event idempotent. */
export const ContentAuditEvent = z
  .strictObject({
    topicId: idText("top", "Topic of the event."),
    eventAt: unixSeconds("When the event occurred."),
    eventId: text("Id of the event.", "evt_01KAHX0000050123456789ABCD"),
    eventType: ContentAuditEventType,
    actorId: text("Username of the account that caused the event, or on whose behalf a run caused it.", "ana"),
    articleId: idText("art", "Article of the event. Present only for events of an outline or a draft.").optional(),
    metadata: z
      .record(z.string(), z.json())
      .meta({ description: "Data of the event, by its type.", example: { fields: ["title"] } })
      .optional(),
  })
  .meta({ id: "ContentAuditEvent", description: "An event of a topic. Events never change." });
export type ContentAuditEvent = z.infer<typeof ContentAuditEvent>;
