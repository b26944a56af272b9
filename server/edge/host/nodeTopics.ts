/** NodeTopics knows which sockets subscribe to each topic, and publishes messages to them one by one. */

/** The part of a socket that a topic uses. */
interface Subscriber {
  readonly open: boolean;
  /** Sends bytes without a copy. They must not change afterwards. */
  write(bytes: Uint8Array): void;
}

export class NodeTopics {
  private readonly subscribers = new Map<string, Set<Subscriber>>();

  add(topic: string, socket: Subscriber): void {
    const sockets = this.subscribers.get(topic) ?? new Set();
    this.subscribers.set(topic, sockets.add(socket));
  }

  delete(topic: string, socket: Subscriber): void {
    const sockets = this.subscribers.get(topic);
    if (sockets?.delete(socket) && sockets.size === 0) this.subscribers.delete(topic);
  }

  publish(topic: string, bytes: Uint8Array): void {
    const sockets = this.subscribers.get(topic);
    if (sockets === undefined) return;
    const copy = Uint8Array.from(bytes);
    for (const socket of sockets) if (socket.open) socket.write(copy);
  }
}
