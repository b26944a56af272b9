/**
 * A TCP proxy between a node and its store that fails on request. It forwards, delays, slows down, stalls (connections
 * stay open but nothing moves) or cuts connections.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export type LinkState =
  | { readonly kind: "pass" }
  /** All data arrives later. */
  | { readonly kind: "delay"; readonly delayMs: number }
  | { readonly kind: "slow"; readonly bytesPerSecond: number }
  /** Nothing moves in either direction, and the connections stay open. */
  | { readonly kind: "halfOpen" }
  /** Open connections are reset, and so are new ones. */
  | { readonly kind: "cut" };

export interface FaultProxy {
  readonly port: number;
  /** Takes effect at once, also for open connections. */
  set(state: LinkState): void;
  /** The same, but only for connections with a subscription, so that only the bus of a Redis fails. */
  setSubscribers(state: LinkState): void;
  close(): Promise<void>;
}

const sliceMs = 20;

export async function startFaultProxy(target: { readonly host: string; readonly port: number }): Promise<FaultProxy> {
  let state: LinkState = { kind: "pass" };
  let subscriberState: LinkState = state;
  const subscribers = new Set<Socket>();
  const waiting = new Set<() => void>();
  const open = new Set<Socket>();

  /** Resolves when this many bytes may pass; a slow link passes a small slice at a time. */
  async function admit(bytes: number, near: Socket): Promise<number> {
    for (;;) {
      const now = subscribers.has(near) && subscriberState.kind !== "pass" ? subscriberState : state;
      if (now.kind === "halfOpen") {
        await new Promise<void>((resolve) => waiting.add(resolve));
        continue;
      }
      if (now.kind === "delay") await pause(now.delayMs);
      if (now.kind !== "slow") return bytes;
      await pause(sliceMs);
      return Math.max(1, Math.min(bytes, Math.floor((now.bytesPerSecond * sliceMs) / 1000)));
    }
  }

  async function carry(from: Socket, to: Socket, near: Socket): Promise<void> {
    for await (const piece of from as AsyncIterable<Buffer>) {
      if (from === near && /SUBSCRIBE\r\n/i.test(piece.toString("latin1"))) {
        subscribers.add(near);
        if (subscriberState.kind === "cut") near.resetAndDestroy();
      }
      for (let at = 0; at < piece.length; ) {
        const end = at + (await admit(piece.length - at, near));
        if (!to.write(piece.subarray(at, end))) await once(to, "drain");
        at = end;
      }
    }
    to.end();
  }

  function join(near: Socket): void {
    if (state.kind === "cut") {
      near.resetAndDestroy();
      return;
    }
    const far = connect(target);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end).on("close", () => {
        open.delete(socket);
        subscribers.delete(socket);
        end();
      });
    }
    carry(near, far, near).catch(end);
    carry(far, near, near).catch(end);
  }

  function wake(): void {
    for (const resume of waiting) resume();
    waiting.clear();
  }

  const server = createServer(join).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      state = next;
      wake();
      if (next.kind === "cut") for (const socket of open) socket.resetAndDestroy();
    },
    setSubscribers(next) {
      subscriberState = next;
      wake();
      if (next.kind === "cut") for (const socket of subscribers) socket.resetAndDestroy();
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
