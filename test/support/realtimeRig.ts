/** Rooms over a log in memory, with the product's limits and a clock that the test moves. */
import { defaultLimits } from "../../api/limits.ts";
import type { RoomBus, RoomLimits } from "../../realtime/ports.ts";
import { createRooms, type Rooms } from "../../realtime/room/rooms.ts";
import { createManualTime } from "./manualTime.ts";
import { createMemoryLog, createMemoryLogStore, type MemoryLog } from "./memoryLog.ts";
import { PairedClient, QueuedBroadcast, writerIdentity } from "./socketPair.ts";

/** Bus between nodes. While `isSilent` is true, it loses all messages. */
export function createMemoryBus(): RoomBus & { isSilent: boolean } {
  const listeners = new Map<string, Set<(message: Uint8Array) => void>>();
  return {
    isSilent: false,
    publish(articleId, message) {
      if (this.isSilent) return;
      for (const listener of listeners.get(articleId) ?? []) listener(message);
    },
    subscribe(articleId, listener) {
      const own = listeners.get(articleId) ?? new Set();
      listeners.set(articleId, own.add(listener));
      return () => void own.delete(listener);
    },
  };
}

export const articleId = "art_test";

interface RigOptions {
  readonly limits?: Partial<RoomLimits>;
  readonly nodes?: number;
  /** False: the log says that no other node writes it. */
  readonly isShared?: boolean;
}

export function createRealtimeRig({ limits = {}, nodes = 1, isShared = true }: RigOptions = {}) {
  const time = createManualTime();
  const clock = { now: time.now, after: time.after };
  const bus = createMemoryBus();
  const shared = createMemoryLogStore();
  const all = Array.from({ length: nodes }, (_, index) => {
    const nodeId = `node${index}`;
    const log = createMemoryLog(isShared ? { writer: nodeId, shared } : { writer: nodeId });
    const broadcast = new QueuedBroadcast();
    const rooms = createRooms({ updateLog: log, bus, broadcast, clock, nodeId, limits: { ...defaultLimits, ...limits } });
    return { log, rooms, broadcast };
  });
  const [first] = all as [{ log: MemoryLog; rooms: Rooms; broadcast: QueuedBroadcast }];
  const clients: PairedClient[] = [];
  return {
    time,
    nodes: all,
    bus,
    log: first.log,
    rooms: first.rooms,
    broadcast: first.broadcast,
    clients,
    async join(username = "ada", options: { extensions?: boolean; mayWrite?: boolean; node?: number } = {}): Promise<PairedClient> {
      const identity = { ...writerIdentity(username), mayWrite: options.mayWrite ?? true };
      const { rooms, broadcast } = all[options.node ?? 0] ?? first;
      const client = new PairedClient(rooms, articleId, identity, { broadcast, extensions: options.extensions ?? false });
      clients.push(client);
      return client.connect();
    },
    silenceBus(isSilent: boolean) {
      bus.isSilent = isSilent;
    },
    liveText: () => first.rooms.read(articleId, (document) => document.getText("content.md").toString()),
    close() {
      for (const client of clients) client.destroy();
    },
  };
}
