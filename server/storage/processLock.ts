/**
 * One process at a time in a data directory, told apart by the kernel and not by a number in a file: each
 * process listens on a socket of its own there, and looks for others that answer. A killed process stops
 * answering at once; process ids, which repeat in containers, decide nothing.
 *
 * Each listens before it looks, so of two that start together at least one sees the other.
 */
import { createHash, randomUUID } from "node:crypto";
import { readdirSync, realpathSync, rmSync } from "node:fs";
import { createConnection, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StorageDamagedError } from "./port.ts";

/** What `sun_path` holds on every system we run on. */
const maxSocketPathBytes = 100;
const attempts = 4;

interface Place {
  readonly folder: string;
  readonly prefix: string;
}

/** A directory whose path is too long for a socket has its sockets in the temporary folder, named after it. */
function toPlace(directory: string): Place {
  const prefix = "in-use-";
  if (Buffer.byteLength(join(directory, prefix)) + 36 <= maxSocketPathBytes) return { folder: directory, prefix };
  const name = createHash("sha256").update(realpathSync(directory)).digest("hex").slice(0, 16);
  return { folder: tmpdir(), prefix: `svc-${name}-` };
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.end(String(process.pid)));
    server.once("error", reject);
    server.listen({ path, readableAll: false }, () => resolve(server.unref()));
  });
}

/** What the process behind a socket says; undefined when there is none. */
function ask(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = "";
    const socket = createConnection(path);
    socket.setTimeout(2000, () => socket.destroy());
    socket.on("data", (bytes) => {
      said += bytes.toString();
    });
    socket.on("error", (reason: NodeJS.ErrnoException) =>
      resolve(reason.code === "ECONNREFUSED" || reason.code === "ENOENT" ? undefined : said),
    );
    socket.on("close", () => resolve(said));
  });
}

async function findOther({ folder, prefix }: Place, own: string): Promise<string | undefined> {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix) || name === own) continue;
    const path = join(folder, name);
    const said = await ask(path);
    if (said !== undefined) return said;
    // Nobody will ever listen under this name again.
    rmSync(path, { force: true });
  }
  return undefined;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Returns the function that lets the directory go. Throws a StorageDamagedError when another process has it. */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const place = toPlace(directory);
  let other: string | undefined;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const own = place.prefix + randomUUID().slice(0, 8);
    const server = await listen(join(place.folder, own));
    other = await findOther(place, own);
    if (other === undefined) return () => close(server);
    await close(server);
    // Two that started together both withdraw; the one that waits less then finds the place free.
    if (attempt + 1 < attempts) await delay(20 + Math.random() * 180);
  }
  throw new StorageDamagedError(
    `${directory} is held by another process${other === "" ? "" : ` (pid ${other})`}; stop it, or use another data directory`,
  );
}
