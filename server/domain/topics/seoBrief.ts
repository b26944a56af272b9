/**
 * Projects the first SEO brief of a topic that has none, from the topic's own fields only.
 *
 * The module uses no keyword provider, so the brief contains no metrics.
 */
import type { TopicSeoBrief, TopicSeoKeywordTarget } from "../../../api/schema/seo.ts";
import type { ContentTopic } from "../../../api/schema/topic.ts";
import type { Topics } from "./port.ts";

export const projectBrief: Topics["projectBrief"] = (topic, { username, runId, nowMs }): TopicSeoBrief => {
  const intent = topic.estimatedIntent;
  const toTarget =
    (role: TopicSeoKeywordTarget["role"]) =>
    (keyword: string): TopicSeoKeywordTarget => ({ keyword, role, intent });
  const primary = topic.primaryKeyword === undefined ? [] : [topic.primaryKeyword];
  return {
    topicId: topic.topicId,
    workspaceId: topic.workspaceId,
    schemaVersion: 1,
    revision: 1,
    searchObjective: topic.title,
    distributionGoals: ["traditional_search"],
    intent,
    readerTask: readerNeedOf(topic),
    serpPattern: "mixed",
    primaryTargets: primary.map(toTarget("primary")),
    supportingClusters: toClusters(topic, toTarget("supporting")),
    usageGuidance: [],
    metricsContext: { status: "unavailable", provider: "none", includeGlobalVolume: false, marketLocale: "en-US" },
    source: "legacy_projection",
    createdAt: nowMs / 1000,
    updatedAt: nowMs / 1000,
    updatedBy: username,
    ...(topic.contentProjectId === undefined ? {} : { contentProjectId: topic.contentProjectId }),
    ...(runId === undefined ? {} : { sourceRunId: runId }),
    ...(topic.generatedQualityTier === undefined ? {} : { generationQualityTier: topic.generatedQualityTier }),
  };
};

function readerNeedOf({ readerPain, title }: ContentTopic): string {
  return readerPain ?? title;
}

function toClusters(topic: ContentTopic, toTarget: (keyword: string) => TopicSeoKeywordTarget): TopicSeoBrief["supportingClusters"] {
  const { secondaryKeywords = [], cluster, primaryKeyword, title, estimatedIntent } = topic;
  if (secondaryKeywords.length === 0) return [];
  const label = cluster ?? primaryKeyword ?? title;
  const terms = secondaryKeywords.map(toTarget);
  return [{ clusterId: "secondary", label, readerNeed: readerNeedOf(topic), intent: estimatedIntent, terms }];
}
