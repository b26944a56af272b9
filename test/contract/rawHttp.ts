/** A TCP connection that speaks HTTP/1.1 as raw bytes, so that a test decides what is sent and when. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawResponse {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

export interface RawConnection {
  readonly socket: Socket;
  write(data: string | Uint8Array): void;
  /** Resolves with the next complete response. Rejects if the connection ends first. With `head`, it has no body. */
  response(options?: { head?: boolean }): Promise<RawResponse>;
  /** Resolves with the bytes since the last response when the server closes the connection. */
  ended(): Promise<Buffer>;
  destroy(): void;
}

export async function rawConnection(port: number): Promise<RawConnection> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  let received = Buffer.alloc(0);
  let over = false;
  let wake: () => void = () => undefined;
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  socket.on("error", () => undefined);
  for (const event of ["end", "close"]) {
    socket.on(event, () => {
      over = true;
      wake();
    });
  }
  const more = async (): Promise<void> => {
    if (over) throw new Error(`the connection ended after ${JSON.stringify(received.toString("latin1").slice(0, 500))}`);
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  };
  const take = async (length: number): Promise<Buffer> => {
    while (received.length < length) await more();
    const bytes = received.subarray(0, length);
    received = received.subarray(length);
    return bytes;
  };
  const takeUntil = async (mark: string): Promise<string> => {
    while (!received.includes(mark)) await more();
    return (await take(received.indexOf(mark) + mark.length)).toString("latin1").slice(0, -mark.length);
  };

  const connection: RawConnection = {
    socket,
    write: (data) => void socket.write(data),
    async response({ head = false } = {}) {
      const [statusLine = "", ...lines] = (await takeUntil("\r\n\r\n")).split("\r\n");
      const status = Number(statusLine.split(" ")[1]);
      const headers = new Map<string, string>();
      for (const line of lines) {
        const colon = line.indexOf(":");
        headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
      }
      if (status === 100) return connection.response({ head });
      if (head || status === 204 || status === 304) return { status, headers, body: Buffer.alloc(0) };
      if (headers.get("transfer-encoding") !== "chunked") {
        return { status, headers, body: await take(Number(headers.get("content-length") ?? 0)) };
      }
      const pieces: Buffer[] = [];
      for (;;) {
        const size = Number.parseInt(await takeUntil("\r\n"), 16);
        const piece = await take(size);
        await takeUntil("\r\n");
        if (size === 0) return { status, headers, body: Buffer.concat(pieces) };
        pieces.push(piece);
      }
    },
    async ended() {
      while (!over) await more();
      return received;
    },
    destroy: () => void socket.destroy(),
  };
  return connection;
}
