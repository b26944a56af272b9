/**
 * Timelines knows the timelines of runs and workspaces: where a viewer begins, what its events, tokens and snapshots are, and
 * which feed its log has.
 *
 * A viewer gets a reset with a snapshot if the log no longer holds its position, or if the position is beyond the tail
 * (a restored backup). This module must not know HTTP.
 */
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { AgentEvent } from "../../../api/schema/timeline.ts";
import type { Clock } from "../../../realtime/ports.ts";
import { runLog, timelineLog } from "../../domain/runs/engine/timelineEntry.ts";
import { isActive, runLists, runRecord } from "../../domain/runs/model/records.ts";
import { toRunView } from "../../domain/runs/model/runView.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { OpenedStream, StreamStart, TimelineFilter, TimelineSource } from "./port.ts";
import { TimelineFeed } from "./timelineFeed.ts";
import { toRunEvent, toWorkspaceEvent } from "./timelineReader.ts";

export interface TimelinesOptions {
  readonly storage: Pick<Storage, "records" | "index" | "log" | "bus">;
  readonly clock: Clock;
  /** Most bytes of one log read for one reader (`sse.buffer`). */
  readonly readAheadBytes: number;
}

export interface Timelines {
  /** The feeds of the logs that are being viewed, one for each. `open` and `release` count its viewers. */
  readonly feeds: { open(log: string): TimelineFeed; release(feed: TimelineFeed): void };
  /** Throws `bad_request` if the resume token belongs to another stream. */
  openRun(runId: string, start: StreamStart): Promise<OpenedStream>;
  openWorkspace(workspaceId: string, start: StreamStart, filter: TimelineFilter): Promise<OpenedStream>;
}

const readLimit = 100;

/** Largest number of active runs in the snapshot of a workspace. */
const maxSnapshotRuns = 100;

export function createTimelines({ storage, clock, readAheadBytes }: TimelinesOptions): Timelines {
  const tailOf = (log: string) => storage.log.tail(partitionOfId(ownerOf(log)), log);

  async function runSnapshot(runId: string): Promise<{ readonly snapshot: Record<string, unknown>; readonly tail: number }> {
    // Read the tail first: an event between the two reads then appears twice (snapshot and stream) instead of never.
    const tail = await tailOf(runLog(runId));
    const run = await storage.records.get(runRecord, runId);
    if (run === undefined) throw notFound();
    return { snapshot: toRunView(run.value, tail) as unknown as Record<string, unknown>, tail };
  }

  async function workspaceSnapshot(workspaceId: string) {
    const tail = await tailOf(timelineLog(workspaceId));
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
        stored === undefined ? [] : [tailOf(runLog(stored.value.id)).then((seq) => toRunView(stored.value, seq))],
      ),
    );
    return { snapshot: { runs } as Record<string, unknown>, tail };
  }

  async function isRunOver(runId: string): Promise<boolean> {
    const run = await storage.records.get(runRecord, runId);
    return run === undefined || !isActive(run.value);
  }

  function runSource(runId: string): TimelineSource {
    return {
      log: runLog(runId),
      toItem(entry) {
        const event = toRunEvent(entry);
        return { kind: "event", token: event.id, event };
      },
      toToken: (position) => `${runId}:${position}`,
      snapshot: () => runSnapshot(runId),
      isOver: () => isRunOver(runId),
    };
  }

  function workspaceSource(workspaceId: string): TimelineSource {
    return {
      log: timelineLog(workspaceId),
      toItem(entry) {
        const event = toWorkspaceEvent(entry);
        return { kind: "event", token: event.cursor, event };
      },
      toToken: String,
      snapshot: () => workspaceSnapshot(workspaceId),
      isOver: async () => false,
    };
  }

  const feeds = new Map<string, { readonly feed: TimelineFeed; viewers: number }>();

  function open(log: string): TimelineFeed {
    const id = ownerOf(log);
    let found = feeds.get(log);
    if (found === undefined) {
      const feed = new TimelineFeed({
        source: log === runLog(id) ? runSource(id) : workspaceSource(id),
        clock,
        subscribe: (topic, listener) => storage.bus.subscribe(topic, listener),
        tail: () => tailOf(log),
        read: (after) => storage.log.read({ partition: partitionOfId(id), log, after, limit: readLimit, maxBytes: readAheadBytes }),
        recentBytes: readAheadBytes,
      });
      found = { feed, viewers: 0 };
      feeds.set(log, found);
    }
    found.viewers += 1;
    return found.feed;
  }

  function release(feed: TimelineFeed): void {
    const found = feeds.get(feed.source.log);
    if (found === undefined) return;
    found.viewers -= 1;
    if (found.viewers > 0) return;
    feeds.delete(feed.source.log);
    feed.close();
  }

  return {
    feeds: { open, release },

    async openRun(runId, { from = "start", lastEventId }) {
      const log = runLog(runId);
      const position =
        lastEventId === undefined ? (from === "start" ? await firstKept(log) : await tailOf(log)) : toSeq(runId, lastEventId);
      const isOver = lastEventId !== undefined && (await isRunOver(runId)) && position === (await tailOf(log));
      return { log, position, isOver };
    },

    async openWorkspace(workspaceId, { from = "now", lastEventId }, { runId, topicId, event }) {
      const log = timelineLog(workspaceId);
      const position = lastEventId === undefined ? (from === "start" ? await firstKept(log) : await tailOf(log)) : toCursor(lastEventId);
      const isFiltered = runId !== undefined || topicId !== undefined || event !== undefined;
      const keeps = (found: AgentEvent) =>
        (runId === undefined || found.runId === runId) &&
        (topicId === undefined || found.topicId === topicId) &&
        (event === undefined || event.includes(found.event));
      return { log, position, ...(isFiltered ? { keeps } : {}), isOver: false };
    },
  };

  /** Returns the position before the oldest stored entry. */
  async function firstKept(log: string): Promise<number> {
    const found = await storage.log.read({ partition: partitionOfId(ownerOf(log)), log, after: 0, limit: 1 });
    return found.gap ? found.firstKept - 1 : 0;
  }
}

/** Returns the id after the slash in the name of a log. */
function ownerOf(log: string): string {
  return log.slice(log.indexOf("/") + 1);
}

const position = /^(?:0|[1-9]\d{0,14})$/;

function refuseToken(form: string): AppError {
  return new AppError("bad_request", `The last event id does not belong to this stream; it must be ${form}.`);
}

function toSeq(runId: string, token: string): number {
  const seq = token.startsWith(`${runId}:`) ? token.slice(runId.length + 1) : "";
  if (!position.test(seq)) throw refuseToken("the id of one of its events, '<runId>:<seq>'");
  return Number(seq);
}

function toCursor(token: string): number {
  if (!position.test(token)) throw refuseToken("the cursor of one of its events, a decimal number");
  return Number(token);
}
