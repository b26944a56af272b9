/**
 * A Yjs client and the server's end of its socket, with a queue in each direction. The test decides when frames move.
 * The client handles each frame as a stock y-websocket does.
 */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import * as awarenessProtocol from "y-protocols/awareness";
import * as syncProtocol from "y-protocols/sync";
import * as Y from "yjs";
import type { ConnectionIdentity, FrameBroadcast, Peer } from "../../realtime/ports.ts";
import type { Connection, Rooms } from "../../realtime/room/rooms.ts";

export const writerIdentity = (username = "ada"): ConnectionIdentity => ({
  author: { username, kind: "user" },
  mayWrite: true,
  credentialId: `ses_${username}`,
});

/** Publishes frames to queued peers, as a host does to its sockets. */
export class QueuedBroadcast implements FrameBroadcast {
  readonly subscribers = new Map<string, Set<QueuedPeer>>();

  publish(topic: string, frame: Uint8Array): void {
    for (const peer of this.subscribers.get(topic) ?? []) peer.send(frame);
  }
}

/** The server's side of one socket. Frames that the server sends wait until the client takes them. */
export class QueuedPeer implements Peer {
  readonly toClient: Uint8Array[] = [];
  closed: { code: number; reason: string } | undefined;
  bufferedBytes = 0;
  /** Set to make the socket slow: frames are then reported as buffered. */
  isSlow = false;
  onSend: ((frame: Uint8Array) => void) | undefined;
  private readonly broadcast: QueuedBroadcast;

  constructor(broadcast: QueuedBroadcast) {
    this.broadcast = broadcast;
  }

  send(bytes: Uint8Array): "sent" | "buffered" | "dropped" {
    if (this.closed !== undefined) return "dropped";
    this.toClient.push(bytes.slice());
    this.onSend?.(bytes);
    if (!this.isSlow) return "sent";
    this.bufferedBytes += bytes.length;
    return "buffered";
  }

  subscribe(topic: string): void {
    const { subscribers } = this.broadcast;
    subscribers.set(topic, (subscribers.get(topic) ?? new Set()).add(this));
  }

  unsubscribe(topic: string): void {
    this.broadcast.subscribers.get(topic)?.delete(this);
  }

  close(code: number, reason: string): void {
    if (this.closed !== undefined) return;
    this.closed = { code, reason };
  }
}

export interface PairedClientOptions {
  /** The broadcast of the rooms. */
  readonly broadcast: QueuedBroadcast;
  readonly extensions?: boolean;
  readonly document?: Y.Doc;
}

export class PairedClient {
  readonly document: Y.Doc;
  readonly awareness: awarenessProtocol.Awareness;
  readonly denied: string[] = [];
  readonly acks: number[] = [];
  readonly refusals: { code: string; detail: string }[] = [];
  /** Number of sync step 2 (`answers`) and sync step 1 (`resyncs`) frames received. */
  answers = 0;
  resyncs = 0;
  peer: QueuedPeer;
  /** Called with each frame at the moment the server sends it. */
  onServerFrame: ((frame: Uint8Array) => void) | undefined;
  connection: Connection | undefined;
  toServer: Uint8Array[] = [];
  private readonly rooms: Rooms;
  private readonly articleId: string;
  identity: ConnectionIdentity;
  private readonly extensions: boolean;
  private readonly broadcast: QueuedBroadcast;

  constructor(
    rooms: Rooms,
    articleId: string,
    identity: ConnectionIdentity,
    { broadcast, extensions = false, document = new Y.Doc() }: PairedClientOptions,
  ) {
    this.broadcast = broadcast;
    this.peer = new QueuedPeer(broadcast);
    this.rooms = rooms;
    this.articleId = articleId;
    this.identity = identity;
    this.extensions = extensions;
    this.document = document;
    this.awareness = new awarenessProtocol.Awareness(document);
    document.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== this) this.push((encoder) => syncProtocol.writeUpdate(encoder, update), 0);
    });
    this.awareness.on("update", ({ added, updated, removed }: { added: number[]; updated: number[]; removed: number[] }) => {
      this.pushAwareness([...added, ...updated, ...removed]);
    });
  }

  get text(): string {
    return this.document.getText("content.md").toString();
  }

  type(text: string, at = this.text.length): void {
    this.document.getText("content.md").insert(at, text);
  }

  async connect(): Promise<this> {
    this.peer = new QueuedPeer(this.broadcast);
    this.peer.onSend = this.onServerFrame;
    this.toServer = [];
    this.connection = await this.rooms.connect(this.articleId, this.peer, this.identity, { extensions: this.extensions });
    this.ask();
    this.pushAwareness([this.document.clientID]);
    return this;
  }

  /** Sends sync step 1, as a stock client does when it opens and every `resyncInterval`. */
  ask(): void {
    this.push((encoder) => syncProtocol.writeSyncStep1(encoder, this.document), 0);
  }

  send(frame: Uint8Array): void {
    if (this.connection !== undefined) this.toServer.push(frame);
  }

  /** Loses the connection with all frames under way, and reports the close to the server. */
  disconnect(): void {
    const { connection } = this;
    this.connection = undefined;
    this.toServer = [];
    this.peer.toClient.length = 0;
    connection?.closed();
  }

  /** Moves frames to the server. Returns true if there was one. */
  deliver(count = Number.POSITIVE_INFINITY): boolean {
    const frames = this.toServer.splice(0, count);
    for (const frame of frames) this.connection?.receive(frame);
    return frames.length > 0;
  }

  /** Takes frames from the server. Returns true if there was one. */
  take(count = Number.POSITIVE_INFINITY): boolean {
    const frames = this.peer.toClient.splice(0, count);
    for (const frame of frames) this.read(frame);
    return frames.length > 0;
  }

  destroy(): void {
    this.disconnect();
    this.awareness.destroy();
    this.document.destroy();
  }

  private push(write: (encoder: encoding.Encoder) => void, type: number): void {
    const encoder = encoding.createEncoder();
    encoding.writeVarUint(encoder, type);
    write(encoder);
    this.send(encoding.toUint8Array(encoder));
  }

  private pushAwareness(clientIds: number[]): void {
    if (clientIds.some((clientId) => !this.awareness.meta.has(clientId))) return;
    this.push((encoder) => encoding.writeVarUint8Array(encoder, awarenessProtocol.encodeAwarenessUpdate(this.awareness, clientIds)), 1);
  }

  private read(frame: Uint8Array): void {
    const decoder = decoding.createDecoder(frame);
    const type = decoding.readVarUint(decoder);
    if (type === 0) {
      const answer = encoding.createEncoder();
      encoding.writeVarUint(answer, 0);
      const step = syncProtocol.readSyncMessage(decoder, answer, this.document, this);
      if (step === syncProtocol.messageYjsSyncStep1) this.resyncs += 1;
      if (step === syncProtocol.messageYjsSyncStep2) this.answers += 1;
      if (encoding.length(answer) > 1) this.send(encoding.toUint8Array(answer));
    } else if (type === 1) {
      awarenessProtocol.applyAwarenessUpdate(this.awareness, decoding.readVarUint8Array(decoder), this);
    } else if (type === 2) {
      if (decoding.readVarUint(decoder) === 0) this.denied.push(decoding.readVarString(decoder));
    } else if (type === 100) {
      this.acks.push(decoding.readVarUint(decoder));
    } else if (type === 101) {
      this.refusals.push(JSON.parse(decoding.readVarString(decoder)));
    } else {
      throw new Error(`a stock client does not know message type ${type}`);
    }
  }
}

/** Waits for turns of the event loop. */
export async function turns(count = 8): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Moves all frames in both directions until no frame is left. */
export async function settle(clients: readonly PairedClient[]): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    await turns();
    let moved = false;
    for (const client of clients) moved = client.deliver() || moved;
    for (const client of clients) moved = client.take() || moved;
    quiet = moved ? 0 : quiet + 1;
  }
}
