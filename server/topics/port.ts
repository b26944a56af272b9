/** What the topics offer to the runs: reading, moves for somebody's commit, and the brief that runs work from. */
import type { TopicSeoBrief } from "../../api/schema/seo.ts";
import type { ContentTopic } from "../../api/schema/topic.ts";
import type { TopicContext, TopicEvent } from "../../machines/topic.ts";
import type { ActorChange, Timeless } from "../actors/port.ts";
import type { ContentProject } from "../folders/records.ts";
import type { RecordWrite, Stored } from "../storage/port.ts";
import type { TopicRecord } from "./records.ts";

export type { ContentProject } from "../folders/records.ts";
export type { TopicRecord } from "./records.ts";

export interface Topics {
  /** By id or short id, only in this workspace; undefined for anything else. */
  find(workspaceId: string, reference: string): Promise<Stored<TopicRecord> | undefined>;
  /** As it is answered: status, times, and the article type that a legacy content type stands for. */
  view(record: TopicRecord): ContentTopic;
  /** For another commit; refuses with `invalid_transition`. */
  move(previous: Stored<TopicRecord>, event: Timeless<TopicEvent>): ActorChange<TopicContext>;
  contentProject(topic: TopicRecord): Promise<ContentProject | undefined>;
  brief(topicId: string): Promise<Stored<TopicSeoBrief> | undefined>;
  /** The first brief of a topic, from the topic's own fields. */
  projectBrief(topic: ContentTopic, by: { readonly username: string; readonly runId?: string; readonly nowMs: number }): TopicSeoBrief;
  /** The topic's own `seoBriefRevision` is not of this write: it comes with the caller's move of the topic. */
  briefWrite(brief: TopicSeoBrief, replacing: Stored<TopicSeoBrief> | null): RecordWrite;
}
