/** A small TCP proxy before several nodes: each new connection goes to the next node that accepts it. */
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
  let turn = 0;

  async function join(near: Socket): Promise<void> {
    near.on("error", () => near.destroy());
    for (let attempt = 0; attempt < ports.length; attempt += 1) {
      turn += 1;
      const far = await reach(ports[turn % ports.length] ?? 0);
      if (far === undefined) continue;
      open.add(near).add(far);
      far.on("error", () => far.destroy());
      near.once("close", () => far.destroy());
      far.once("close", () => near.destroy());
      near.pipe(far).pipe(near);
      return;
    }
    near.destroy();
  }

  const server = createServer({ noDelay: true, pauseOnConnect: false }, (near) => void join(near)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
