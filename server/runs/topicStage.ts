/** Outline and draft of a topic, as far as runs ask: whether there is one to decide about, and whose it is. */
import type { TopicRecord } from "../topics/port.ts";

export type DecidedStage = "outline" | "draft";

export function isDecidedStage(type: string): type is DecidedStage {
  return type === "outline" || type === "draft";
}

/** There is a committed text of the stage, in a status in which it can be decided about. */
export function hasStage({ state, context }: TopicRecord, stage: DecidedStage): boolean {
  const inStatus = stage === "outline" ? state === "outlined" || state === "drafted" : state === "drafted";
  return inStatus && context[stage] !== undefined;
}

/** The stage's newest committed text is not approved yet. */
export function mayApprove(topic: TopicRecord, type: string): boolean {
  return isDecidedStage(type) && hasStage(topic, type) && topic.context[type]?.approval === undefined;
}
