/**
 * BenchViewer reads one event stream over a raw connection: it checks that the numbers of the events follow each other and measures
 * how long each event took.
 *
 * It does not parse whole events, so that one driver process can hold a thousand viewers. A server never divides an event, so the
 * heads of HTTP chunks stand between events, and the viewer skips them.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface BenchViewerOptions {
  /** Address of the stream, with `http:`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly onEvent: (viewer: BenchViewer, event: ReceivedEvent) => void;
}

export interface ReceivedEvent {
  /** Number of the event in its stream. */
  readonly number: number;
  /** The event as it was sent. */
  readonly text: string;
}

export class BenchViewer {
  /** Events that were missing, repeated or out of order. */
  faults = 0;
  received = 0;
  readonly #socket: Socket;
  readonly #onEvent: BenchViewerOptions["onEvent"];
  #rest = "";
  #last: number | undefined;

  private constructor(socket: Socket, onEvent: BenchViewerOptions["onEvent"]) {
    this.#socket = socket;
    this.#onEvent = onEvent;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.#receive(text));
  }

  /** Resolves when the server has begun the stream. */
  static async open({ url, headers, onEvent }: BenchViewerOptions): Promise<BenchViewer> {
    const { hostname, port, pathname, search } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    const lines = Object.entries({ host: hostname, accept: "text/event-stream", ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`);
    const [head] = (await once(socket, "data")) as [Buffer];
    if (!head.toString("latin1").startsWith("HTTP/1.1 200")) throw new Error(`the stream was refused: ${head.toString("latin1")}`);
    const viewer = new BenchViewer(socket, onEvent);
    viewer.#receive(head.toString("latin1"));
    return viewer;
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    const all = this.#rest + text;
    let from = 0;
    for (let end = all.indexOf("\n\n", from); end !== -1; end = all.indexOf("\n\n", from)) {
      const idAt = all.indexOf("\nid: ", from);
      if (idAt !== -1 && idAt < end) this.#take(all.slice(from, end + 2), all.slice(idAt + 5, all.indexOf("\n", idAt + 5)));
      from = end + 2;
    }
    this.#rest = all.slice(from);
  }

  #take(block: string, id: string): void {
    const number = Number(id.slice(id.lastIndexOf(":") + 1));
    if (this.#last !== undefined && number !== this.#last + 1) this.faults += 1;
    this.#last = number;
    const start = block.indexOf("event: ");
    if (block.startsWith("stream.", start + 7)) return;
    this.received += 1;
    this.#onEvent(this, { number, text: block.slice(start) });
  }
}
