/**
 * A small TCP proxy before several nodes: each new connection goes to the next node that accepts it. Sockets
 * of live articles have turns of their own, so that two of them are on different nodes.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Balancer {
  readonly url: string;
  close(): void;
}

function reach(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    socket.once("connect", () => resolve(socket)).once("error", () => resolve(undefined));
  });
}

/** `ports` are those of the nodes, which may be added later. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  const turns = { call: 0, socket: 0 };

  async function join(near: Socket): Promise<void> {
    near.on("error", () => near.destroy());
    const [first] = (await once(near, "data").catch(() => [])) as [Buffer?];
    if (first === undefined) return void near.destroy();
    near.pause();
    const kind = first.toString("latin1").startsWith("GET /collab/") ? "socket" : "call";
    for (let attempt = 0; attempt < ports.length; attempt += 1) {
      turns[kind] += 1;
      const far = await reach(ports[turns[kind] % ports.length] ?? 0);
      if (far === undefined) continue;
      open.add(near).add(far);
      far.on("error", () => far.destroy());
      near.once("close", () => far.destroy());
      far.once("close", () => near.destroy());
      far.write(first);
      near.pipe(far).pipe(near);
      return;
    }
    near.destroy();
  }

  const server = createServer({ noDelay: true }, (near) => void join(near)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
