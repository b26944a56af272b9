/**
 * Timelines reads the timelines of runs and workspaces from their logs: past events first, then live, without a gap.
 *
 * Each reader has its own cursor and reads at its own pace. A reader gets a reset with a snapshot if the log no longer
 * holds its position, or if the position is beyond the tail (a restored backup). This module must not know HTTP.
 */
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { AgentEvent } from "../../../api/schema/timeline.ts";
import { createLogWatch } from "../../../realtime/logWatch.ts";
import type { Clock } from "../../../realtime/ports.ts";
import { runLog, timelineLog } from "../../domain/runs/engine/timelineEntry.ts";
import { isActive, runLists, runRecord } from "../../domain/runs/model/records.ts";
import { toRunView } from "../../domain/runs/model/runView.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { LogEntry, LogRead, Storage } from "../../platform/storage/port.ts";
import type { OpenedStream, StreamItem, StreamStart, TimelineFilter } from "./port.ts";
import { toRunEvent, toWorkspaceEvent } from "./timelineReader.ts";

export interface TimelinesOptions {
  readonly storage: Pick<Storage, "records" | "index" | "log" | "bus">;
  readonly clock: Clock;
  /** Most bytes of one log read for one reader (`sse.buffer`). */
  readonly readAheadBytes: number;
}

export interface Timelines {
  /** Throws `bad_request` if the resume token belongs to another stream. */
  openRun(runId: string, start: StreamStart): Promise<OpenedStream>;
  openWorkspace(workspaceId: string, start: StreamStart, filter: TimelineFilter): Promise<OpenedStream>;
}

const readLimit = 100;

/** Largest number of active runs in the snapshot of a workspace. */
const maxSnapshotRuns = 100;

export function createTimelines({ storage, clock, readAheadBytes }: TimelinesOptions): Timelines {
  const watches = createLogWatch({
    clock,
    subscribe: (log, listener) => storage.bus.subscribe(log, listener),
    tail: (log) => storage.log.tail(partitionOfId(ownerOf(log)), log),
  });

  function read(log: string, after: number): Promise<LogRead> {
    return storage.log.read({ partition: partitionOfId(ownerOf(log)), log, after, limit: readLimit, maxBytes: readAheadBytes });
  }

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

  interface Source {
    readonly log: string;
    readonly toEvent: (entry: LogEntry) => AgentEvent;
    readonly toToken: (position: number) => string;
    readonly keeps: (event: AgentEvent) => boolean;
    readonly snapshot: () => Promise<{ readonly snapshot: Readonly<Record<string, unknown>>; readonly tail: number }>;
    /** Called once all entries are read. True if no more events will come. */
    readonly isOver: () => Promise<boolean>;
  }

  async function* items(source: Source, begin: number, signal: AbortSignal): AsyncGenerator<StreamItem> {
    const { log, toEvent, toToken, keeps } = source;
    const watched = watches.watch(log);
    let position = begin;
    /** Position of the last item sent, or -1. A reader without a position would resume at a later "now" and miss events. */
    let sentPosition = -1;
    try {
      while (!signal.aborted) {
        const found = await read(log, position);
        if (found.gap || position > found.tail) {
          const { snapshot, tail } = await source.snapshot();
          position = tail;
          sentPosition = tail;
          yield { kind: "reset", token: toToken(tail), snapshot };
          continue;
        }
        for (const entry of found.entries) {
          if (signal.aborted) return;
          position = entry.position;
          const event = toEvent(entry);
          if (!keeps(event)) continue;
          sentPosition = position;
          yield { kind: "event", token: toToken(position), event };
        }
        if (position < found.tail) continue;
        if (sentPosition !== position) {
          sentPosition = position;
          yield { kind: "position", token: toToken(position) };
        }
        if (await source.isOver()) {
          // Events may have been appended between the read and `isOver`: read them before the end.
          if ((await tailOf(log)) > position) continue;
          yield { kind: "end" };
          return;
        }
        await watched.beyond(position, signal);
      }
    } finally {
      watched.close();
    }
  }

  async function isRunOver(runId: string): Promise<boolean> {
    const run = await storage.records.get(runRecord, runId);
    return run === undefined || !isActive(run.value);
  }

  return {
    async openRun(runId, { from = "start", lastEventId }) {
      const log = runLog(runId);
      const begin = lastEventId === undefined ? (from === "start" ? await firstKept(log) : await tailOf(log)) : toSeq(runId, lastEventId);
      const source: Source = {
        log,
        toEvent: toRunEvent,
        toToken: (position) => `${runId}:${position}`,
        keeps: () => true,
        snapshot: () => runSnapshot(runId),
        isOver: () => isRunOver(runId),
      };
      const isOver = lastEventId !== undefined && (await isRunOver(runId)) && begin === (await tailOf(log));
      return { items: (signal) => items(source, begin, signal), isOver };
    },

    async openWorkspace(workspaceId, { from = "now", lastEventId }, { runId, topicId, event }) {
      const log = timelineLog(workspaceId);
      const begin = lastEventId === undefined ? (from === "start" ? await firstKept(log) : await tailOf(log)) : toCursor(lastEventId);
      const source: Source = {
        log,
        toEvent: toWorkspaceEvent,
        toToken: String,
        keeps: (found) =>
          (runId === undefined || found.runId === runId) &&
          (topicId === undefined || found.topicId === topicId) &&
          (event === undefined || event.includes(found.event)),
        snapshot: () => workspaceSnapshot(workspaceId),
        isOver: async () => false,
      };
      return { items: (signal) => items(source, begin, signal), isOver: false };
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
