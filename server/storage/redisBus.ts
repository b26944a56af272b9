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

interface Ear {
  readonly client: RedisClient;
  readonly server: ServerAddress;
  /** What it hears. */
  readonly topics: Set<string>;
  /** Looks since its last answer. */
  silent: number;
}

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
  let ear: Ear | undefined;
  let opening = false;
  let closed = false;

  const channelOf = (topic: string) => toChannel(address, topic);

  function createEar(server: ServerAddress) {
    const client = createRedisClient(server, address);
    client.on("error", () => queueMicrotask(() => client.destroy()));
    return client;
  }

  const settling = new Set<string>();

  /**
   * Makes the ear hear a topic as long as somebody listens, one step after the other: the client forgets a
   * subscription that is made while the end of an earlier one is under way.
   */
  async function settle(topic: string): Promise<void> {
    if (settling.has(topic)) return;
    settling.add(topic);
    for (let now = ear; now?.client.isReady === true && now.topics.has(topic) !== listeners.has(topic); now = ear) {
      const { client, topics } = now;
      try {
        if (listeners.has(topic)) {
          await client.subscribe(channelOf(topic), (message) => onMessage(topic, message), true);
          topics.add(topic);
        } else {
          await client.unsubscribe(channelOf(topic));
          topics.delete(topic);
        }
      } catch {
        // Its successor is told of every topic.
        if (now === ear) break;
      }
    }
    settling.delete(topic);
  }

  function onMessage(topic: string, message: Buffer): void {
    // A node's own messages have reached its listeners already.
    if (!message.subarray(0, idBytes).equals(nodeId)) local.publish(topic, new Uint8Array(message.subarray(idBytes)));
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
        if (before === 0) void settle(topic);
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
            void settle(topic);
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
        // A refusal is an answer as well.
        known.client.sendCommand(["PING"]).then(onAnswer, onAnswer);
        return;
      }
      opening = true;
      ear?.client.destroy();
      const client = createEar(server);
      try {
        await connectRedisClient(client);
        ear = { client, server, topics: new Set(), silent: 0 };
        if (closed) client.destroy();
        else for (const topic of listeners.keys()) void settle(topic);
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
