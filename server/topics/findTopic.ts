/** Finding a topic by what a request calls it: its id, or its short id within the workspace. */
import { TopicId } from "../../api/schema/id.ts";
import { partitionOfId } from "../ids.ts";
import type { Storage, Stored } from "../storage/port.ts";
import { type TopicRecord, topicLists, topicRecord } from "./records.ts";

/** Undefined for what is no topic of this workspace, a foreign one among it. */
export type FindTopic = (workspaceId: string, reference: string) => Promise<Stored<TopicRecord> | undefined>;

const shortId = /^T-([1-9]\d{0,14})$/;

export function createFindTopic({ storage }: { readonly storage: Pick<Storage, "records" | "index"> }): FindTopic {
  async function toId(workspaceId: string, reference: string): Promise<string | undefined> {
    const number = shortId.exec(reference)?.[1];
    if (number === undefined) return TopicId.safeParse(reference).success ? reference : undefined;
    const prefix = topicLists.numbered(workspaceId, Number(number));
    const [row] = await storage.index.scan({ partition: partitionOfId(workspaceId), prefix, limit: 1 });
    return row?.target;
  }

  return async (workspaceId, reference) => {
    const id = await toId(workspaceId, reference);
    const topic = id === undefined ? undefined : await storage.records.get(topicRecord, id);
    return topic?.value.context.workspaceId === workspaceId ? topic : undefined;
  };
}
