/** Answers what runs need to know about the outline and draft of a topic: which exists and which may be approved. */
import type { TopicRecord } from "../../topics/port.ts";

export type DecidedStage = "outline" | "draft";

export function isDecidedStage(type: string): type is DecidedStage {
  return type === "outline" || type === "draft";
}

/** True if the stage has a committed text and the topic's status allows a decision about it. */
export function hasStage({ state, context }: TopicRecord, stage: DecidedStage): boolean {
  const inStatus = stage === "outline" ? state === "outlined" || state === "drafted" : state === "drafted";
  return inStatus && context[stage] !== undefined;
}

/** True if the stage's newest committed text exists and is not approved yet. */
export function mayApprove(topic: TopicRecord, type: string): boolean {
  return isDecidedStage(type) && hasStage(topic, type) && topic.context[type]?.approval === undefined;
}
