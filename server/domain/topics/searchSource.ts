/** Lets the search find topics by their title and by the texts of their editorial fields. */
import { topicStatuses } from "../../../api/schema/topic.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { SearchItem, SearchSource, SearchTexts } from "../search/port.ts";
import { statusOf, type TopicRecord, topicRecord } from "./records.ts";

function toTexts({ context: { fields } }: TopicRecord): SearchTexts {
  const present = (texts: readonly (string | undefined)[]) => texts.filter((text) => text !== undefined && text !== "") as string[];
  return {
    body: present([fields.thesis, fields.primaryKeyword, fields.readerPain, fields.contentGap, fields.seoTitle]),
    extra: present([
      ...(fields.secondaryKeywords ?? []),
      fields.cluster,
      fields.targetAudience,
      fields.originalityAngle,
      fields.avoidAngle,
      fields.productTieIn,
      ...(fields.angles ?? []),
      ...(fields.mustInclude ?? []),
      ...(fields.evidencePlan ?? []),
    ]),
  };
}

function toItem(topic: TopicRecord): SearchItem {
  const { workspaceId, updatedAtMs, articleId, contentProjectId: folderId, fields } = topic.context;
  return {
    id: topic.id,
    workspaceId,
    title: fields.title,
    updatedAtMs,
    articleId,
    topicId: topic.id,
    folderId,
    status: statusOf(topic),
    texts: async () => toTexts(topic),
  };
}

export function createTopicSearchSource({ storage }: { readonly storage: Pick<Storage, "records"> }): SearchSource {
  return {
    name: "topics",
    kind: "topic",
    record: topicRecord,
    scopes: ["workspaces:read"],
    // Lists show archived topics only on request too.
    statuses: { all: topicStatuses, searched: topicStatuses.filter((status) => status !== "archived") },
    async read(topicIds) {
      return (await storage.records.getMany(topicRecord, topicIds)).map((stored) =>
        stored === undefined ? undefined : toItem(stored.value),
      );
    },
  };
}
