/**
 * The bus between nodes: wake-ups and presence, never the truth. Inside the process a message goes its way at once;
 * to other nodes by a channel for each topic that somebody here listens to. What cannot be sent now is not sent.
 */
import type { Partition, Storage } from "./port.ts";
import { createProcessBus } from "./processBus.ts";
import { connectRedisClient, createRedisClient, type RedisClient } from "./redisClient.ts";
import type { Topology } from "./redisTopology.ts";
import { type RedisAddress, type ServerAddress, toServerName } from "./storeAddress.ts";

/** Where messages are sent and heard: any node of a Cluster passes them on to the others. */
const busPartition: Partition = 0;
const idBytes = 16;
/** An ear that has answered at none of so many looks is deaf, though nobody said that the connection is gone. */
const silentLooks = 3;

export interface RedisBus extends Pick<Storage, "bus"> {
  /** Looks after the connection it hears by; called again and again. */
  keep(): Promise<void>;
  close(): void;
}

/** Channels know no databases. */
export const toChannel = ({ database }: Pick<RedisAddress, "database">, topic: string) => `svc:${database}:bus:${topic}`;

export function createRedisBus(options: {
  readonly address: RedisAddress;
  readonly topology: Topology;
  readonly nodeId: Buffer;
}): RedisBus {
  const { address, topology, nodeId } = options;
  const local = createProcessBus();
  const listeners = new Map<string, number>();
  let ear: { readonly client: RedisClient; readonly server: ServerAddress; silent: number } | undefined;
  let opening = false;
  let closed = false;

  const channelOf = (topic: string) => toChannel(address, topic);

  function createEar(server: ServerAddress) {
    const client = createRedisClient(server, address);
    client.on("error", () => queueMicrotask(() => client.destroy()));
    return client;
  }

  function hear(topic: string): void {
    if (ear?.client.isReady !== true) return;
    const onMessage = (message: Buffer) => {
      // A node's own messages have reached its listeners already.
      if (!message.subarray(0, idBytes).equals(nodeId)) local.publish(topic, new Uint8Array(message.subarray(idBytes)));
    };
    ear.client.subscribe(channelOf(topic), onMessage, true).catch(() => {});
  }

  return {
    bus: {
      publish(topic, message) {
        local.publish(topic, message);
        const connection = topology.current(busPartition);
        if (connection?.isOpen !== true) return;
        connection.send(["PUBLISH", channelOf(topic), Buffer.concat([nodeId, message])]).catch(() => {});
      },
      subscribe(topic, listener) {
        const before = listeners.get(topic) ?? 0;
        listeners.set(topic, before + 1);
        if (before === 0) hear(topic);
        const end = local.subscribe(topic, listener);
        let ended = false;
        return () => {
          if (ended) return;
          ended = true;
          end();
          const left = (listeners.get(topic) ?? 1) - 1;
          if (left > 0) listeners.set(topic, left);
          else {
            listeners.delete(topic);
            if (ear?.client.isReady === true) ear.client.unsubscribe(channelOf(topic)).catch(() => {});
          }
        };
      },
    },
    async keep() {
      const server = topology.current(busPartition)?.server;
      if (closed || opening || server === undefined) return;
      const known = ear;
      if (known?.client.isReady === true && toServerName(known.server) === toServerName(server) && known.silent < silentLooks) {
        known.silent += 1;
        const onAnswer = () => {
          known.silent = 0;
        };
        known.client.sendCommand(["PING"]).then(onAnswer, () => {});
        return;
      }
      opening = true;
      ear?.client.destroy();
      const client = createEar(server);
      try {
        await connectRedisClient(client);
        ear = { client, server, silent: 0 };
        if (closed) client.destroy();
        else for (const topic of listeners.keys()) hear(topic);
      } catch {
        // The next look tries again.
      } finally {
        opening = false;
      }
    },
    close() {
      closed = true;
      ear?.client.destroy();
    },
  };
}
