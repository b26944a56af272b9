/**
 * OpenRooms keeps the open rooms of this node: it opens a room at first use, shares it, and closes it when it is idle.
 *
 * Concurrent callers share one load per document. A room that ended is replaced at the next use, and operations that had
 * not begun in it are retried in the new room. Other nodes announce changes over the bus; the changes are read from the log.
 * If no other node can write, nothing is announced and the log is not polled (RT90).
 * While a document is watched (`roomWatches.ts`) and other nodes can write, its room stays open: it hears the other nodes.
 */
import type { Logger } from "pino";
import { AppError } from "../../api/schema/error.ts";
import type { Clock, FrameBroadcast, RoomBus, RoomLimits, RoomMetrics, UpdateLog } from "../ports.ts";
import { RoomEnded } from "./changes.ts";
import { Room, type RoomSetting } from "./room.ts";
import { type RoomMessage, readRoomMessage, writeRoomMessage } from "./roomMessage.ts";
import { type RoomWatch, RoomWatches } from "./roomWatches.ts";
import { ServerClientIds } from "./serverClientIds.ts";

export interface OpenRoomsOptions {
  readonly updateLog: UpdateLog;
  readonly bus: RoomBus;
  /** Serves the topics of the peers that join. */
  readonly broadcast: FrameBroadcast;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly nodeId: string;
  readonly metrics?: RoomMetrics;
  readonly log?: Logger;
  /** How long an idle document stays open, in milliseconds. Default 30 000. */
  readonly idleMs?: number;
  /** Poll interval of the log in milliseconds, default 1000. A lost bus message delays other nodes by up to one interval. */
  readonly pollMs?: number;
}

export interface OpenRooms {
  /**
   * Runs `task` with the article's room. It starts synchronously after the check that the room is open. If the room ends
   * before the operation begins (`RoomEnded`), the task is retried in a new room.
   */
  within<T>(articleId: string, task: (room: Room) => Promise<T> | T): Promise<T>;
  /** The article's room, if it is open. */
  get(articleId: string): Room | undefined;
  /** Resolves when this node knows the members of the document on all nodes, as far as these answer in time. */
  hear(articleId: string): Promise<void>;
  /** Watches a document until the returned function is called. */
  watch(articleId: string, watch: RoomWatch): () => void;
  /** The rooms that are open or being opened. */
  list(): readonly (Room | Promise<Room>)[];
  readonly size: number;
}

interface Entry {
  /** Undefined while the room is being opened. */
  room: Room | undefined;
  /** Undefined when the room is open. */
  opening: Promise<Room> | undefined;
  /** Resolves when the other nodes have had time to send their members. Undefined until it is needed. */
  heard: Promise<void> | undefined;
  cancelUnload: (() => void) | undefined;
  /** Undefined if no other node can write. */
  readonly unsubscribe: (() => void) | undefined;
}

/** Interval at which rooms check whether they are quiet. */
const tickMs = 1000;
/** Time in which other nodes answer over the bus. It takes them a few milliseconds, unless they are busy. */
const answerMs = 250;
/** Tries per operation. Rooms usually end because the store fails, so more tries would not help. */
const maxTries = 3;

export function createOpenRooms(options: OpenRoomsOptions): OpenRooms {
  const { updateLog, bus, broadcast, clock, limits, nodeId, metrics, log, idleMs = 30_000, pollMs = 1000 } = options;
  const entries = new Map<string, Entry>();
  const watches = new RoomWatches();
  let isPolling = false;
  let isTicking = false;

  function publish(articleId: string, message: RoomMessage): void {
    if (updateLog.isShared) bus.publish(articleId, writeRoomMessage(nodeId, message));
  }

  function receive({ room }: Entry, bytes: Uint8Array): void {
    const received = readRoomMessage(bytes, nodeId);
    if (received === undefined || room === undefined) return;
    const { message } = received;
    if (message.kind === "appended") room.noteRevision(message.revision);
    else if (message.kind === "opened") room.presence.broadcastAll();
    else room.presence.receiveFromNode(received.nodeId, message.presence);
  }

  /** Reads the log's newest revision for each room with members, because the bus may have lost an announcement. */
  function poll(): void {
    isPolling = false;
    for (const { room } of entries.values()) {
      // If the store does not answer, the next poll tries again.
      if (room !== undefined && (room.members.size > 0 || watches.has(room.articleId))) room.refresh().catch(() => {});
    }
    for (const articleId of watches.articles()) keepOpen(articleId);
    schedulePoll();
  }

  function schedulePoll(): void {
    if (!updateLog.isShared || (entries.size === 0 && watches.isEmpty) || isPolling) return;
    isPolling = true;
    clock.after(pollMs, poll);
  }

  /** Lets each room that is awake notice that it is quiet. One timer serves all rooms. */
  function tick(): void {
    isTicking = false;
    for (const { room } of entries.values()) {
      room?.tick();
      if (room?.isAwake === true) scheduleTick();
    }
  }

  function scheduleTick(): void {
    if (isTicking) return;
    isTicking = true;
    clock.after(tickMs, tick);
  }

  const setting: RoomSetting = {
    updateLog,
    broadcast,
    serverClientIds: new ServerClientIds(),
    clock,
    limits,
    metrics,
    log,
    onAppended: ({ articleId }, revision) => publish(articleId, { kind: "appended", revision }),
    onPresence: ({ articleId }, presence) => publish(articleId, { kind: "presence", presence }),
    onApplied: ({ articleId }, revision, changes) => watches.changed(articleId, revision, changes),
    onMembers: ({ articleId }) => watches.membersChanged(articleId),
    // A node that alone writes the store notices everything without a room.
    isWatched: ({ articleId }) => updateLog.isShared && watches.has(articleId),
    onActivity: noteActivity,
    onEnded: (room) => {
      const entry = entries.get(room.articleId);
      if (entry?.room === room) close(room.articleId, entry);
    },
  };

  function open(articleId: string): Room | Promise<Room> {
    const found = entries.get(articleId);
    if (found !== undefined) return toRoom(found);
    const entry: Entry = {
      room: undefined,
      opening: undefined,
      heard: undefined,
      cancelUnload: undefined,
      unsubscribe: updateLog.isShared ? bus.subscribe(articleId, (bytes) => receive(entry, bytes)) : undefined,
    };
    entry.opening = load(articleId, entry);
    entries.set(articleId, entry);
    schedulePoll();
    entry.opening.catch(() => close(articleId, entry));
    return entry.opening;
  }

  async function load(articleId: string, entry: Entry): Promise<Room> {
    const loaded = await updateLog.load(articleId);
    const room = new Room(articleId, setting, loaded);
    entry.room = room;
    entry.opening = undefined;
    publish(articleId, { kind: "opened" });
    noteActivity(room);
    return room;
  }

  function close(articleId: string, entry: Entry): void {
    entry.cancelUnload?.();
    entry.unsubscribe?.();
    if (entries.get(articleId) === entry) entries.delete(articleId);
  }

  function noteActivity(room: Room): void {
    const entry = entries.get(room.articleId);
    if (entry?.room !== room) return;
    if (room.isAwake) scheduleTick();
    entry.cancelUnload?.();
    entry.cancelUnload = room.isIdle && room.isOpen ? clock.after(idleMs, () => void unload(room)) : undefined;
  }

  /** Saves a snapshot if needed and closes the room. The room is checked again after saving: it may be in use by then. */
  async function unload(room: Room): Promise<void> {
    if (!room.isIdle) return;
    await room.save();
    // Saving counts as activity. A room that is not idle here is unloaded by a later call, one idle time after its last use.
    if (room.isIdle) room.end(1001, "the document is not in use");
  }

  /** Opens the room of a watched document, if it is not open. A room that cannot be opened is tried again by the next poll. */
  function keepOpen(articleId: string): void {
    if (!entries.has(articleId)) Promise.resolve(open(articleId)).catch(() => {});
  }

  return {
    async within(articleId, task) {
      for (let tries = 1; ; tries += 1) {
        const room = await open(articleId);
        try {
          if (!room.isOpen) throw new RoomEnded();
          return await task(room);
        } catch (error) {
          if (!(error instanceof RoomEnded)) throw error;
          if (tries === maxTries) throw new AppError("unavailable", "The document cannot be opened now. Try again later.");
        }
      }
    },
    get: (articleId) => entries.get(articleId)?.room,
    async hear(articleId) {
      if (!updateLog.isShared) return;
      await open(articleId);
      const entry = entries.get(articleId);
      if (entry === undefined) return;
      entry.heard ??= new Promise((resolve) => {
        // The subscription may not have existed yet when the room was opened, so the others are asked again.
        publish(articleId, { kind: "opened" });
        clock.after(answerMs, resolve);
      });
      await entry.heard;
    },
    watch(articleId, watch) {
      watches.add(articleId, watch);
      if (updateLog.isShared) {
        keepOpen(articleId);
        schedulePoll();
      }
      return () => {
        watches.delete(articleId, watch);
        const room = entries.get(articleId)?.room;
        if (room !== undefined) noteActivity(room);
      };
    },
    list: () => [...entries.values()].map(toRoom),
    get size() {
      return entries.size;
    },
  };
}

function toRoom({ room, opening }: Entry): Room | Promise<Room> {
  if (room !== undefined) return room;
  if (opening === undefined) throw new Error("a document is neither open nor being opened");
  return opening;
}
