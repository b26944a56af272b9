/**
 * The process lock allows only one process at a time in a data directory.
 *
 * Each process listens on its own socket in the directory and looks for other sockets that answer. The kernel closes
 * the socket of a killed process at once. Process ids are not used for the decision, because they repeat in containers.
 *
 * Each process listens before it looks, so if two start together, at least one sees the other. The process whose socket
 * has the smaller name stays; the others close their sockets and try again.
 */
import { createHash, randomUUID } from "node:crypto";
import { readdirSync, realpathSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StorageDamagedError } from "../port.ts";

/** Socket paths up to this length fit into `sun_path` on every supported system. */
const maxSocketPathBytes = 100;
const nameCharacters = 12;
const lookAgainMs = 20;
const giveUpAfterMs = 5000;

interface Place {
  readonly folder: string;
  readonly prefix: string;
}

/**
 * Returns the folder and name prefix of the sockets. If the directory's path is too long for a socket, the sockets are
 * in the temporary folder under a hash of the path.
 */
function toPlace(directory: string): Place {
  const prefix = "in-use-";
  if (Buffer.byteLength(join(directory, prefix)) + nameCharacters <= maxSocketPathBytes) return { folder: directory, prefix };
  const name = createHash("sha256").update(realpathSync(directory)).digest("hex").slice(0, 16);
  return { folder: tmpdir(), prefix: `svc-${name}-` };
}

type Phase = "starting" | "open";

interface Own {
  readonly name: string;
  phase: Phase;
  close(): Promise<void>;
}

function listen({ folder, prefix }: Place): Promise<Own> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.end(`${own.phase} ${process.pid}`);
    });
    const name = prefix + randomUUID().replaceAll("-", "").slice(0, nameCharacters);
    const own: Own = { name, phase: "starting", close: () => new Promise((closed) => server.close(() => closed())) };
    server.once("error", reject);
    server.listen(join(folder, name), () => {
      server.unref();
      resolve(own);
    });
  });
}

interface Other {
  readonly name: string;
  readonly phase: Phase;
  readonly pid: string;
}

/**
 * Asks the process behind a socket for its state. `undefined` if no process listens; a process that does not answer
 * counts as open.
 */
function ask(folder: string, name: string): Promise<Other | undefined> {
  return new Promise((resolve) => {
    let received = "";
    const socket = createConnection(join(folder, name));
    socket.setTimeout(2000, () => socket.destroy());
    socket.on("data", (bytes) => {
      received += bytes.toString();
    });
    const answer = () => {
      const [phase, pid = "unknown"] = received.split(" ");
      resolve({ name, phase: phase === "starting" ? phase : "open", pid });
    };
    socket.on("error", (reason: NodeJS.ErrnoException) => {
      if (reason.code === "ECONNREFUSED" || reason.code === "ENOENT") resolve(undefined);
      else answer();
    });
    socket.on("close", answer);
  });
}

async function findOthers({ folder, prefix }: Place, own: string): Promise<readonly Other[]> {
  const found: Other[] = [];
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix) || name === own) continue;
    const other = await ask(folder, name);
    if (other !== undefined) found.push(other);
    // Socket names are random, so no process will listen under this name again.
    else rmSync(join(folder, name), { force: true });
  }
  return found;
}

/** Locks the directory and returns the function that releases it. Throws a StorageDamagedError if another process holds it. */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const place = toPlace(directory);
  const giveUpAt = performance.now() + giveUpAfterMs;
  let own = await listen(place);
  for (;;) {
    const others = await findOthers(place, own.name);
    if (others.length === 0) {
      own.phase = "open";
      return own.close;
    }
    const { name } = own;
    const holder = others.find((other) => other.phase === "open") ?? (performance.now() > giveUpAt ? others[0] : undefined);
    const first = others.every((other) => name < other.name);
    if (holder !== undefined || !first) await own.close();
    if (holder !== undefined) {
      throw new StorageDamagedError(`${directory} is held by another process (pid ${holder.pid}); stop it, or use another data directory`);
    }
    await delay(lookAgainMs);
    if (!first) own = await listen(place);
  }
}
