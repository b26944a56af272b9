/** Defines what runs may use of topics: reading them, sending them events in a unit of work, and the SEO brief. */

import type { AppError } from "../../../api/schema/error.ts";
import type { TopicSeoBrief } from "../../../api/schema/seo.ts";
import type { ContentTopic } from "../../../api/schema/topic.ts";
import type { TopicEvent } from "../../../machines/topic.ts";
import type { Timeless, UnitOfWork } from "../../platform/actors/port.ts";
import type { Stored } from "../../platform/storage/port.ts";
import type { ContentProject } from "../folders/records.ts";
import type { TopicRecord } from "./records.ts";

export type { ContentProject } from "../folders/records.ts";
export type { TopicRecord } from "./records.ts";

export interface Topics {
  /** Finds a topic of this workspace by id or short id, in the unit if one is given. Undefined if there is none. */
  find(workspaceId: string, reference: string, unit?: UnitOfWork): Promise<Stored<TopicRecord> | undefined>;
  /** The topic in the shape of the API, with status and times. A legacy content type is converted to its article type. */
  view(record: TopicRecord): ContentTopic;
  /** Sends an event to the topic in the unit. Throws `invalid_transition`. */
  send(unit: UnitOfWork, topicId: string, event: Timeless<TopicEvent>): Promise<TopicRecord>;
  /** The error that `send` would throw; undefined if the topic accepts the event. */
  refusal(topic: TopicRecord, event: Timeless<TopicEvent>): AppError | undefined;
  /** Events that the topic machine accepts now. */
  allowed(topic: TopicRecord): readonly string[];
  contentProject(topic: TopicRecord): Promise<ContentProject | undefined>;
  brief(topicId: string): Promise<Stored<TopicSeoBrief> | undefined>;
  /** Projects the first brief of a topic from the topic's own fields. */
  projectBrief(topic: ContentTopic, by: { readonly username: string; readonly runId?: string; readonly nowMs: number }): TopicSeoBrief;
  /**
   * Writes the brief in the unit. The caller must also send the topic a `topic.update`, because this write does not set
   * the topic's `seoBriefRevision`.
   */
  writeBrief(unit: UnitOfWork, brief: TopicSeoBrief, replacing: Stored<TopicSeoBrief> | null): void;
}
