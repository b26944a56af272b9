/** Converts a topic record into the shape that the API returns and runs read. It reads nothing except the record. */
import type { ArticleFormat, ArticleType, ContentTopic, ContentType, TopicApproval } from "../../../api/schema/topic.ts";
import type { TopicContext, TopicStage } from "../../../machines/topic.ts";
import { statusOf, type TopicRecord } from "./records.ts";

const articleTypeOf: Readonly<Record<ContentType, ArticleType>> = {
  tutorial: "tutorial",
  guide: "how_to",
  comparison: "comparison",
  integration: "how_to",
  migration: "how_to",
  troubleshooting: "how_to",
  listicle: "explanation",
};

interface ArticleKind {
  readonly articleType?: ArticleType | undefined;
  readonly articleFormat?: ArticleFormat | undefined;
  readonly contentType?: ContentType | undefined;
}

/** Adds the article type that a legacy `contentType` stands for. An existing `articleType` takes precedence. */
export function withArticleType<Fields extends ArticleKind>(fields: Fields): Fields {
  const { articleType, articleFormat, contentType } = fields;
  if (articleType !== undefined || contentType === undefined) return fields;
  const isList = contentType === "listicle" && articleFormat === undefined;
  return { ...fields, articleType: articleTypeOf[contentType], ...(isList ? { articleFormat: "listicle" } : {}) };
}

export function toShortId(number: number): string {
  return `T-${number}`;
}

function toApproval({ approval }: TopicStage): TopicApproval | undefined {
  if (approval === undefined) return undefined;
  const { approvedBy, approvedAtMs, note } = approval;
  return { approvedBy, approvedAt: approvedAtMs / 1000, ...(note === undefined ? {} : { note }) };
}

function toApprovals({ outline, draft }: TopicContext): Pick<ContentTopic, "approvals"> {
  const approvals = {
    outline: outline === undefined ? undefined : toApproval(outline),
    draft: draft === undefined ? undefined : toApproval(draft),
  };
  const given = Object.entries(approvals).filter(([, approval]) => approval !== undefined);
  return given.length === 0 ? {} : { approvals: Object.fromEntries(given) };
}

function toArchive({ archive }: TopicContext): Partial<ContentTopic> {
  if (archive === undefined) return {};
  const { atMs, by, fromStatus, reason, note, byContentProjectId } = archive;
  return {
    archivedAt: atMs / 1000,
    archivedBy: by,
    archivedFromStatus: fromStatus,
    archiveReason: reason,
    ...(note === undefined ? {} : { archiveNote: note }),
    ...(byContentProjectId === undefined ? {} : { archivedByContentProjectId: byContentProjectId }),
  };
}

export function toContentTopic(record: TopicRecord): ContentTopic {
  const { context } = record;
  const { articleId, contentProjectId, runs, editedAtMs, editedBy } = context;
  return {
    topicId: record.id,
    workspaceId: context.workspaceId,
    ownerId: context.ownerId,
    status: statusOf(record),
    createdAt: context.createdAtMs / 1000,
    updatedAt: context.updatedAtMs / 1000,
    shortId: toShortId(context.number),
    slug: context.slug,
    ...withArticleType(context.fields),
    ...(contentProjectId === undefined ? {} : { contentProjectId }),
    ...(articleId === undefined ? {} : { articleId }),
    ...(runs.research === undefined ? {} : { agentRunId: runs.research }),
    ...(runs.outline === undefined ? {} : { outlineRunId: runs.outline }),
    ...(runs.draft === undefined ? {} : { draftRunId: runs.draft }),
    ...(editedAtMs === undefined ? {} : { editorialFieldsEditedAt: editedAtMs / 1000 }),
    ...(editedBy === undefined ? {} : { editorialFieldsEditedBy: editedBy }),
    ...toArchive(context),
    ...toApprovals(context),
  };
}
