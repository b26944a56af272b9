/**
 * BenchClient simulates one editor: it sends prepared updates over a raw WebSocket and counts the received characters.
 *
 * It behaves as a stock Yjs provider does where that costs the server work: it opens with sync step 1 and answers each
 * sync step 1 of the server with everything that the server lacks of its own text. It keeps no document, so that one
 * driver process can hold hundreds of clients.
 */
import { once } from "node:events";
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { WebSocket } from "ws";
import * as Y from "yjs";

/** How one kind of server frames the messages of the Yjs sync protocol. */
export interface Wire {
  /** Prefix of every frame. */
  readonly prefix: (room: string) => Uint8Array;
  /** Frames that open a document, before sync step 1. */
  readonly opening: (room: string) => readonly Uint8Array[];
  /** False for a relay: it has no state to ask for. */
  readonly hasState: boolean;
}

const none = new Uint8Array();

export const plainWire: Wire = { prefix: () => none, opening: () => [], hasState: true };
export const relayWire: Wire = { ...plainWire, hasState: false };
/** Hocuspocus names the document in each frame and expects a token before anything else. */
export const hocuspocusWire: Wire = {
  prefix: (room) => encoding.encode((encoder) => encoding.writeVarString(encoder, room)),
  opening: (room) => [
    encoding.encode((encoder) => {
      encoding.writeVarString(encoder, room);
      encoding.writeVarUint(encoder, 2);
      encoding.writeVarUint(encoder, 0);
      encoding.writeVarString(encoder, "");
    }),
  ],
  hasState: true,
};

type SyncStep = 0 | 1 | 2;

export function syncFrame(prefix: Uint8Array, step: SyncStep, payload: Uint8Array): Uint8Array {
  return encoding.encode((encoder) => {
    encoding.writeUint8Array(encoder, prefix);
    encoding.writeVarUint(encoder, 0);
    encoding.writeVarUint(encoder, step);
    encoding.writeVarUint8Array(encoder, payload);
  });
}

export const emptyVector = Uint8Array.of(0);
const emptyUpdate = Uint8Array.of(0, 0);

/** Calls `found` for each range of characters that an update contains. */
function readClocks(update: Uint8Array, found: (clientId: number, from: number, to: number) => void): void {
  const { from, to } = Y.parseUpdateMeta(update);
  for (const [clientId, end] of to) found(clientId, from.get(clientId) ?? 0, end);
}

export interface BenchClientOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly wire: Wire;
  readonly room: string;
  /** Updates that the client will send, each with one more character. */
  readonly updates: number;
  /** Document that the client has before it types, as a Yjs update, and the place at which it types. Default: an empty document. */
  readonly within?: { readonly state: Uint8Array; readonly at: number };
  /** Called for each received range of another client's characters. */
  readonly onReceived: (clientId: number, from: number, to: number) => void;
  /** Called for each answer to a sync step 1 of the client. */
  readonly onAnswered?: () => void;
}

export class BenchClient {
  readonly clientId: number;
  sent = 0;
  readonly #socket: WebSocket;
  readonly #prefix: Uint8Array;
  readonly #updates: readonly Uint8Array[];
  readonly #frames: readonly Uint8Array[];
  readonly #onReceived: BenchClientOptions["onReceived"];
  readonly #onAnswered: (() => void) | undefined;
  #synced: (() => void) | undefined;
  /** Resolves when the server has answered sync step 1. */
  readonly synced = new Promise<void>((resolve) => {
    this.#synced = resolve;
  });

  private constructor(socket: WebSocket, { wire, room, updates, within, onReceived, onAnswered }: BenchClientOptions) {
    this.#socket = socket;
    this.#prefix = wire.prefix(room);
    this.#onReceived = onReceived;
    this.#onAnswered = onAnswered;
    const made: Uint8Array[] = [];
    const document = new Y.Doc();
    if (within !== undefined) Y.applyUpdate(document, within.state);
    document.on("update", (update: Uint8Array) => made.push(update));
    for (let at = 0; at < updates; at += 1) document.getText("content.md").insert((within?.at ?? 0) + at, "x");
    this.clientId = document.clientID;
    this.#updates = made;
    this.#frames = made.map((update) => syncFrame(this.#prefix, 2, update));
    document.destroy();
    socket.on("message", (data: Buffer) => this.#receive(data));
  }

  static async open(options: BenchClientOptions): Promise<BenchClient> {
    const socket = new WebSocket(options.url, { headers: options.headers, perMessageDeflate: false });
    socket.binaryType = "nodebuffer";
    const client = new BenchClient(socket, options);
    await once(socket, "open");
    if (!options.wire.hasState) return client;
    for (const frame of options.wire.opening(options.room)) socket.send(frame);
    client.ask();
    await client.synced;
    return client;
  }

  /** Sends the next update. Returns its clock. */
  type(): number {
    const clock = this.sent;
    const frame = this.#frames[clock];
    if (frame === undefined) throw new Error("the client has no update left to send");
    this.sent += 1;
    this.#socket.send(frame);
    return clock;
  }

  /** Sends sync step 1. The answer comes when everything that was sent before is in the document. */
  ask(): void {
    this.#socket.send(syncFrame(this.#prefix, 0, emptyVector));
  }

  close(): void {
    this.#socket.terminate();
  }

  #receive(data: Buffer): void {
    const decoder = decoding.createDecoder(data);
    decoder.pos = this.#prefix.length;
    const type = decoding.readVarUint(decoder);
    // Type 4 is Hocuspocus' sync message that expects no question in return.
    if (type !== 0 && !(type === 4 && this.#prefix.length > 0)) return;
    const step = decoding.readVarUint(decoder);
    const payload = decoding.readVarUint8Array(decoder);
    if (step === 0) {
      this.#socket.send(syncFrame(this.#prefix, 1, this.#answerTo(payload)));
      return;
    }
    if (step === 1) {
      this.#synced?.();
      if (this.sent > 0) this.#onAnswered?.();
    }
    readClocks(payload, (clientId, from, to) => {
      if (clientId !== this.clientId) this.#onReceived(clientId, from, to);
    });
  }

  /** What the server lacks of this client's text. */
  #answerTo(vector: Uint8Array): Uint8Array {
    const known = Y.decodeStateVector(vector).get(this.clientId) ?? 0;
    if (known >= this.sent) return emptyUpdate;
    return Y.mergeUpdates(this.#updates.slice(known, this.sent));
  }
}
