/** Defines what runs may use of topics: reading them, preparing moves for another commit, and the SEO brief. */
import type { TopicSeoBrief } from "../../../api/schema/seo.ts";
import type { ContentTopic } from "../../../api/schema/topic.ts";
import type { TopicContext, TopicEvent } from "../../../machines/topic.ts";
import type { ActorChange, Timeless } from "../../platform/actors/port.ts";
import type { RecordWrite, Stored } from "../../platform/storage/port.ts";
import type { ContentProject } from "../folders/records.ts";
import type { TopicRecord } from "./records.ts";

export type { ContentProject } from "../folders/records.ts";
export type { TopicRecord } from "./records.ts";

export interface Topics {
  /** Finds a topic of this workspace by id or short id. Undefined if there is none. */
  find(workspaceId: string, reference: string): Promise<Stored<TopicRecord> | undefined>;
  /** The topic in the shape of the API, with status and times. A legacy content type is converted to its article type. */
  view(record: TopicRecord): ContentTopic;
  /** Prepares a move for the caller's commit. Throws `invalid_transition`. */
  move(previous: Stored<TopicRecord>, event: Timeless<TopicEvent>): ActorChange<TopicContext>;
  /** Events that the topic machine accepts now. */
  allowed(topic: TopicRecord): readonly string[];
  contentProject(topic: TopicRecord): Promise<ContentProject | undefined>;
  brief(topicId: string): Promise<Stored<TopicSeoBrief> | undefined>;
  /** Projects the first brief of a topic from the topic's own fields. */
  projectBrief(topic: ContentTopic, by: { readonly username: string; readonly runId?: string; readonly nowMs: number }): TopicSeoBrief;
  /**
   * Write of the brief. The caller must also move the topic, because this write does not set the topic's
   * `seoBriefRevision`.
   */
  briefWrite(brief: TopicSeoBrief, replacing: Stored<TopicSeoBrief> | null): RecordWrite;
}
