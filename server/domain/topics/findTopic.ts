/** Finds a topic by its id, or by its short id within the workspace. */
import { TopicId } from "../../../api/schema/id.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { FindTopicId } from "../articles/port.ts";
import { type TopicRecord, topicLists, topicRecord } from "./records.ts";
import { topicKind } from "./topicKind.ts";

/**
 * Finds a topic, as the unit leaves it if one is given. Returns undefined if it does not exist or belongs to another
 * workspace.
 */
export type FindTopic = (workspaceId: string, reference: string, unit?: UnitOfWork) => Promise<Stored<TopicRecord> | undefined>;

/** Finds the id of a topic. Articles resolve the topic of a request with it. */
export function createFindTopicId(options: FindTopicOptions): FindTopicId {
  const find = createFindTopic(options);
  return async (workspaceId, reference) => (await find(workspaceId, reference))?.value.id;
}

const shortId = /^T-([1-9]\d{0,14})$/;

export interface FindTopicOptions {
  readonly storage: Pick<Storage, "records" | "index">;
}

export function createFindTopic({ storage }: FindTopicOptions): FindTopic {
  async function toId(workspaceId: string, reference: string): Promise<string | undefined> {
    const number = shortId.exec(reference)?.[1];
    if (number === undefined) return TopicId.safeParse(reference).success ? reference : undefined;
    const prefix = topicLists.numbered(workspaceId, Number(number));
    const [row] = await storage.index.scan({ partition: partitionOfId(workspaceId), prefix, limit: 1 });
    return row?.target;
  }

  return async (workspaceId, reference, unit) => {
    const id = await toId(workspaceId, reference);
    if (id === undefined) return undefined;
    const topic = await (unit === undefined ? storage.records.get(topicRecord, id) : unit.read(topicKind, id));
    return topic?.value.context.workspaceId === workspaceId ? topic : undefined;
  };
}
