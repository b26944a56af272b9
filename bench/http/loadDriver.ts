/**
 * Sends one request repeatedly over many connections and counts the answers. It does not pipeline, because real clients
 * do not. It runs as a child process, takes orders from its parent, and checks the status of every answer.
 */
import { connect, type Socket } from "node:net";

export interface LoadOrder {
  readonly port: number;
  /** The complete request as raw bytes. */
  readonly request: string;
  readonly status: number;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
}

process.on("message", (order: LoadOrder) => {
  drive(order).then(
    (result) => process.send?.(result),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function drive(order: LoadOrder): Promise<LoadResult> {
  const request = Buffer.from(order.request);
  const expected = `HTTP/1.1 ${order.status}`;
  const sockets = await Promise.all(Array.from({ length: order.connections }, () => open(order.port)));
  let answers = 0;
  let running = true;
  const startedAt = performance.now();
  const done = sockets.map(
    (socket) =>
      new Promise<void>((resolve, reject) => {
        let received = "";
        socket.on("error", reject);
        socket.on("data", (chunk: Buffer) => {
          received += chunk.toString("latin1");
          const head = received.indexOf("\r\n\r\n");
          if (head === -1) return;
          const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? -1);
          const whole = length >= 0 ? head + 4 + length : received.endsWith("0\r\n\r\n") ? received.length : Number.POSITIVE_INFINITY;
          if (received.length < whole) return;
          if (!received.startsWith(expected)) reject(new Error(`unexpected answer: ${received.slice(0, 600)}`));
          received = "";
          answers += 1;
          if (running) socket.write(request);
          else resolve();
        });
        socket.write(request);
      }),
  );
  setTimeout(() => {
    running = false;
  }, order.seconds * 1000);
  await Promise.all(done);
  const seconds = (performance.now() - startedAt) / 1000;
  for (const socket of sockets) socket.destroy();
  return { answers, seconds };
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket;
}
