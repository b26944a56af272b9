/**
 * FolderTopics archives and restores the topics of a content project with its folder, and makes them standalone when
 * the folder is deleted.
 *
 * The topic machine decides every transition and records its audit event. Archiving a topic cancels its active run, as
 * the request on a single topic does.
 */
import { type TopicStatus, topicStatuses } from "../../../api/schema/topic.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexRow, Storage } from "../../platform/storage/port.ts";
import { present } from "../call/present.ts";
import type { FolderPlace, FolderTopics } from "../folders/port.ts";
import type { TopicRecord, Topics } from "../topics/port.ts";
import { statusOf, topicCount, topicLists } from "../topics/records.ts";
import type { FindActiveRun } from "./model/activeRun.ts";
import type { RunKind } from "./model/records.ts";

export interface FolderTopicsOptions {
  readonly storage: Pick<Storage, "index" | "counts">;
  readonly kind: RunKind;
  readonly topics: Pick<Topics, "find" | "send">;
  readonly findActiveRun: FindActiveRun;
}

const activeStatuses = topicStatuses.filter((status) => status !== "archived");

export function createFolderTopics({ storage, kind, topics, findActiveRun }: FolderTopicsOptions): FolderTopics {
  const toScope = ({ workspaceId, folderId }: FolderPlace) => ({ workspaceId, contentProjectId: folderId });

  async function countIn(folder: FolderPlace, statuses: readonly TopicStatus[]): Promise<number> {
    const keys = statuses.map((status) => topicCount(toScope(folder), status));
    return (await storage.counts.get(partitionOfId(folder.workspaceId), keys)).reduce((sum, count) => sum + count, 0);
  }

  const listOf = (folder: FolderPlace, status: TopicStatus) => topicLists.sorted(toScope(folder), status, "createdAt");

  /** Returns the first `most` topics with one of the statuses. */
  async function firstIn(folder: FolderPlace, statuses: readonly TopicStatus[], most: number): Promise<readonly IndexRow[]> {
    const rows: IndexRow[] = [];
    for (const status of statuses) {
      const limit = most - rows.length;
      if (limit === 0) break;
      rows.push(...(await storage.index.scan({ partition: partitionOfId(folder.workspaceId), prefix: listOf(folder, status), limit })));
    }
    return rows;
  }

  /** Reads the topic in the unit. Undefined if it has left the folder since its list was read. */
  async function findIn(unit: UnitOfWork, { workspaceId, folderId }: FolderPlace, topicId: string): Promise<TopicRecord | undefined> {
    const topic = (await topics.find(workspaceId, topicId, unit))?.value;
    return topic?.context.contentProjectId === folderId ? topic : undefined;
  }

  return {
    name: "topics",
    count: (folder) => countIn(folder, topicStatuses),
    countTo: (action, folder) => countIn(folder, action === "archive" ? activeStatuses : ["archived"]),

    async remove(unit, folder, most, by) {
      const rows = await firstIn(folder, topicStatuses, most);
      for (const { target } of rows) {
        const topic = await findIn(unit, folder, target);
        if (topic !== undefined) await topics.send(unit, topic.id, { type: "project.removed", by });
      }
      return rows.length;
    },

    async archive(unit, folder, most, { by, note }) {
      const rows = await firstIn(folder, activeStatuses, most);
      for (const { target } of rows) {
        const topic = await findIn(unit, folder, target);
        if (topic === undefined || statusOf(topic) === "archived") continue;
        const active = await findActiveRun(topic.id, unit);
        if (active !== undefined) {
          await unit.send(kind, active.value.id, { type: "run.cancel", by, reason: "The content project of the topic was archived." });
        }
        const reason = "content_project_archived";
        await topics.send(unit, topic.id, { type: "topic.archive", reason, byContentProjectId: folder.folderId, by, ...present({ note }) });
      }
      return rows.length;
    },

    async restore(unit, folder, most, { by, after }) {
      const scan = { partition: unit.partition, prefix: listOf(folder, "archived"), limit: most };
      const rows = await storage.index.scan(after === undefined ? scan : { ...scan, after });
      let restored = 0;
      for (const { target } of rows) {
        const topic = await findIn(unit, folder, target);
        if (topic === undefined || topic.context.archive?.byContentProjectId !== folder.folderId) continue;
        await topics.send(unit, topic.id, { type: "topic.restore", by });
        restored += 1;
      }
      const last = rows.length < most ? undefined : rows.at(-1)?.key;
      return { read: rows.length, restored, ...present({ after: last }) };
    },
  };
}
