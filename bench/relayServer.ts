/**
 * Runs the minimal relay: a server that only forwards every frame to everyone in the room.
 *
 * With `JOURNAL`, the path of a file, it first writes the frames to it. The frames of one turn of the event loop, and those
 * that arrive while a write is in progress, share one synchronous write (`O_DSYNC`) into blocks that were written before. It checks
 * nothing and can read nothing back, so no server that stores before it sends costs less.
 */

import * as uws from "uWebSockets.js";
import { constants, openSync, write, writeSync } from "node:fs";

const { App, us_socket_local_port } = uws as unknown as typeof uws & { us_socket_local_port(socket: unknown): number };

interface Data {
  readonly room: string;
}

const journalBytes = 64 << 20;

const app = App();
const journal = openJournal(process.env.JOURNAL);
let waiting: { readonly room: string; readonly frame: Buffer }[] = [];
let isWriting = false;
let journalEnd = 0;

function openJournal(path: string | undefined): number | undefined {
  if (path === undefined) return undefined;
  writeSync(openSync(path, "w"), Buffer.alloc(journalBytes));
  return openSync(path, constants.O_RDWR | constants.O_DSYNC);
}

/** Writes all waiting frames, then publishes them. */
function writeWaiting(file: number): void {
  const group = waiting;
  waiting = [];
  const bytes = Buffer.concat(group.map(({ frame }) => frame));
  if (journalEnd + bytes.length > journalBytes) journalEnd = 0;
  write(file, bytes, 0, bytes.length, journalEnd, (error) => {
    if (error !== null) throw error;
    for (const { room, frame } of group) app.publish(room, frame, true);
    isWriting = waiting.length > 0;
    if (isWriting) writeWaiting(file);
  });
  journalEnd += bytes.length;
}

app.ws<Data>("/*", {
  maxPayloadLength: 4 << 20,
  maxBackpressure: 64 << 20,
  upgrade(response, request, context) {
    const head = ["sec-websocket-key", "sec-websocket-protocol", "sec-websocket-extensions"].map((name) => request.getHeader(name));
    response.upgrade({ room: request.getUrl() }, head[0] ?? "", head[1] ?? "", head[2] ?? "", context);
  },
  open(socket) {
    socket.subscribe(socket.getUserData().room);
  },
  message(socket, message) {
    const { room } = socket.getUserData();
    if (journal === undefined) {
      app.publish(room, message, true);
      return;
    }
    // The host reuses the message's memory after this call.
    waiting.push({ room, frame: Buffer.from(new Uint8Array(message)) });
    if (isWriting) return;
    isWriting = true;
    setImmediate(writeWaiting, journal);
  },
});
app.listen("127.0.0.1", Number(process.env.PORT ?? 0), (listening) => {
  if (listening) process.send?.(us_socket_local_port(listening));
});
process.on("message", () => process.exit(0));
