/**
 * Timelines implements the timelines of runs and workspaces: the first position of a viewer, its events, tokens and snapshots.
 *
 * A viewer gets a reset with a snapshot if the log no longer holds its position, or if the position is beyond the tail
 * (a restored backup). This module must not know HTTP.
 */
import { notFound } from "../../../api/schema/error.ts";
import { runLog, timelineLog } from "../../domain/runs/engine/timelineEntry.ts";
import { isActive, runLists, runRecord } from "../../domain/runs/model/records.ts";
import { toRunView } from "../../domain/runs/model/runView.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { OpenedStream, OpenSource, StreamEvent, StreamStart, TimelineFilter } from "./port.ts";
import { readPosition, type StreamLogs } from "./streamLogs.ts";
import { toRunEvent, toWorkspaceEvent } from "./timelineReader.ts";

export interface TimelinesOptions {
  readonly storage: Pick<Storage, "records" | "index">;
  readonly logs: StreamLogs;
}

export interface Timelines {
  readonly runSource: OpenSource;
  readonly workspaceSource: OpenSource;
  /** Throws `bad_request` if the resume token belongs to another stream. */
  openRun(runId: string, start: StreamStart): Promise<OpenedStream>;
  openWorkspace(workspaceId: string, start: StreamStart, filter: TimelineFilter): Promise<OpenedStream>;
}

/** Largest number of active runs in the snapshot of a workspace. */
const maxSnapshotRuns = 100;

export function createTimelines({ storage, logs }: TimelinesOptions): Timelines {
  async function runSnapshot(runId: string): Promise<{ readonly snapshot: Record<string, unknown>; readonly tail: number }> {
    // Read the tail first: an event between the two reads then appears twice (snapshot and stream) instead of never.
    const tail = await logs.tail(runLog(runId));
    const run = await storage.records.get(runRecord, runId);
    if (run === undefined) throw notFound();
    return { snapshot: toRunView(run.value, tail) as unknown as Record<string, unknown>, tail };
  }

  async function workspaceSnapshot(workspaceId: string) {
    const tail = await logs.tail(timelineLog(workspaceId));
    const partition = partitionOfId(workspaceId);
    const statuses = ["queued", "running", "paused_for_approval"] as const;
    const rows = await Promise.all(
      statuses.map((status) =>
        storage.index.scan({ partition, prefix: runLists.ofStatus(workspaceId, status), reverse: true, limit: maxSnapshotRuns }),
      ),
    );
    const found = await storage.records.getMany(
      runRecord,
      rows
        .flat()
        .slice(0, maxSnapshotRuns)
        .map(({ target }) => target),
    );
    const runs = await Promise.all(
      found.flatMap((stored) =>
        stored === undefined ? [] : [logs.tail(runLog(stored.value.id)).then((seq) => toRunView(stored.value, seq))],
      ),
    );
    return { snapshot: { runs } as Record<string, unknown>, tail };
  }

  async function isRunOver(runId: string): Promise<boolean> {
    const run = await storage.records.get(runRecord, runId);
    return run === undefined || !isActive(run.value);
  }

  return {
    runSource: (runId) => ({
      log: runLog(runId),
      toItem(entry) {
        const event = toRunEvent(entry);
        return { kind: "event", token: event.id, event };
      },
      toToken: (position) => `${runId}:${position}`,
      snapshot: () => runSnapshot(runId),
      isOver: () => isRunOver(runId),
    }),

    workspaceSource: (workspaceId) => ({
      log: timelineLog(workspaceId),
      toItem(entry) {
        const event = toWorkspaceEvent(entry);
        return { kind: "event", token: event.cursor, event };
      },
      toToken: String,
      snapshot: () => workspaceSnapshot(workspaceId),
      isOver: async () => false,
    }),

    async openRun(runId, start) {
      const log = runLog(runId);
      const position = await logs.begin(log, start, { from: "start", toPosition: (token) => toSeq(runId, token) });
      const isOver = start.lastEventId !== undefined && (await isRunOver(runId)) && position === (await logs.tail(log));
      return { log, position, isOver };
    },

    async openWorkspace(workspaceId, start, { runId, topicId, event }) {
      const log = timelineLog(workspaceId);
      const position = await logs.begin(log, start, { from: "now", toPosition: toCursor });
      const isFiltered = runId !== undefined || topicId !== undefined || event !== undefined;
      const keeps = (found: StreamEvent) =>
        "runId" in found &&
        (runId === undefined || found.runId === runId) &&
        (topicId === undefined || found.topicId === topicId) &&
        (event === undefined || event.includes(found.event));
      return { log, position, ...(isFiltered ? { keeps } : {}), isOver: false };
    },
  };
}

function toSeq(runId: string, token: string): number {
  const seq = token.startsWith(`${runId}:`) ? token.slice(runId.length + 1) : "";
  return readPosition(seq, "the id of one of its events, '<runId>:<seq>'");
}

function toCursor(token: string): number {
  return readPosition(token, "the cursor of one of its events, a decimal number");
}
