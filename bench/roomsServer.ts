/** Runs our side of the relay comparison: rooms on uWebSockets.js. Every batch is durable in LMDB before it is relayed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as encoding from "lib0/encoding";
import { defaultLimits } from "../api/limits.ts";
import type { AuthoredUpdate, UpdateLog } from "../realtime/ports.ts";
import { type Connection, createRooms } from "../realtime/room/rooms.ts";
import { startUwsHost } from "../server/edge/host/uws.ts";
import { createLmdbStorage } from "../server/platform/storage/lmdb/lmdbStorage.ts";

const directory = mkdtempSync(join(tmpdir(), "bench-rooms-"));
const storage = await createLmdbStorage({ directory, diskReserveMiB: 0, recordTypes: [], onDiskError: (error) => console.error(error) });

/** Writes only the log, without the article's record and checkpoint row. */
const updateLog: UpdateLog = {
  load: async () => ({ revision: 0, tail: [] }),
  tail: (articleId) => storage.log.tail(articleId.length % 64, `document/${articleId}`),
  async append(articleId, updates: readonly AuthoredUpdate[]) {
    const entry = encoding.encode((encoder) => {
      for (const { update } of updates) encoding.writeVarUint8Array(encoder, update);
    });
    const partition = articleId.length % 64;
    const result = await storage.commit({ partition, logs: [{ op: "append", log: `document/${articleId}`, entries: [entry] }] });
    return { kind: "appended", revision: result.ok ? (result.positions[0] ?? 0) : 0 };
  },
  readAfter: async () => ({ gap: false, batches: [] }),
  saveState: async () => {},
};

const off = "off" as const;
const limits = { ...defaultLimits, "socket.frames": off, "socket.bytes": off, "socket.syncAnswers": off, "socket.syncBytes": off };
const clock = {
  now: storage.now,
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
const rooms = createRooms({ updateLog, bus: storage.bus, clock, limits, nodeId: "bench" });

const host = await startUwsHost(
  {
    handle: () => ({ status: 404, headers: {} }),
    upgrade(request) {
      const username = request.query;
      let connection: Connection | undefined;
      const early: Uint8Array[] = [];
      return {
        accept: {
          async open(socket) {
            const identity = { author: { username, kind: "user" as const }, mayWrite: true, credentialId: username };
            connection = await rooms.connect(request.path.slice(1), socket, identity, { extensions: false });
            for (const bytes of early) connection.receive(bytes);
          },
          message(bytes) {
            if (connection === undefined) early.push(bytes);
            else connection.receive(bytes);
          },
          drain: () => connection?.drained(),
          close: () => connection?.closed(),
        },
      };
    },
  },
  { host: "127.0.0.1", port: 0, maxFrameBytes: 4 << 20, maxBufferedBytes: 64 << 20, onError: (error) => console.error(error) },
);
process.send?.(host.port);
process.on("message", async () => {
  await rooms.drain();
  await storage.close();
  rmSync(directory, { recursive: true, force: true });
  process.exit(0);
});
