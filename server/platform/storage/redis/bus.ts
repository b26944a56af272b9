/**
 * The Redis bus sends wake-ups and presence between nodes; delivery is best effort.
 *
 * A message reaches listeners in this process directly. Other nodes receive it through one Redis channel per topic, and
 * a node subscribes only to topics that have a listener. A message that cannot be sent now is dropped.
 */
import type { Partition, Storage } from "../port.ts";
import { createProcessBus } from "../processBus.ts";
import { type RedisAddress, type ServerAddress, toServerName } from "../storeAddress.ts";
import { connectRedisClient, createRedisClient, type RedisClient } from "./client.ts";
import type { Topology } from "./topology.ts";

/** All messages go through the node that holds this partition. In a Cluster, each node forwards messages to the others. */
const busPartition: Partition = 0;
const idBytes = 16;
/** A subscriber connection is replaced after this number of checks without an answer, even if no error was reported. */
const maxSilentChecks = 3;

interface Subscriber {
  readonly client: RedisClient;
  readonly server: ServerAddress;
  /** Topics that this connection is subscribed to. */
  readonly topics: Set<string>;
  /** Number of checks since the last answer. */
  silent: number;
}

export interface RedisBus extends Pick<Storage, "bus"> {
  /** Checks the subscriber connection and opens a new one if needed. The health check calls it periodically. */
  keep(): Promise<void>;
  close(): void;
}

/** Redis channels are shared by all databases of a server, so the channel name contains the database number. */
export const toChannel = ({ database }: Pick<RedisAddress, "database">, topic: string) => `svc:${database}:bus:${topic}`;

export function createRedisBus(options: {
  readonly address: RedisAddress;
  readonly topology: Topology;
  readonly nodeId: Buffer;
}): RedisBus {
  const { address, topology, nodeId } = options;
  const local = createProcessBus();
  const listeners = new Map<string, number>();
  let subscriber: Subscriber | undefined;
  let opening = false;
  let closed = false;

  const channelOf = (topic: string) => toChannel(address, topic);

  function createSubscriber(server: ServerAddress) {
    const client = createRedisClient(server, address);
    client.on("error", () => queueMicrotask(() => client.destroy()));
    return client;
  }

  const settling = new Set<string>();

  /**
   * Subscribes to a topic while it has listeners, and unsubscribes otherwise, one step at a time per topic. The steps
   * must not overlap, because the client loses a subscription that is made while an unsubscribe of the same channel is
   * running.
   */
  async function settle(topic: string): Promise<void> {
    if (settling.has(topic)) return;
    settling.add(topic);
    for (let now = subscriber; now?.client.isReady === true && now.topics.has(topic) !== listeners.has(topic); now = subscriber) {
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
        // The connection that replaces this one subscribes to all topics again.
        if (now === subscriber) break;
      }
    }
    settling.delete(topic);
  }

  function onMessage(topic: string, message: Buffer): void {
    // Messages from this node were already delivered to its listeners by `publish`.
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
      const known = subscriber;
      if (known?.client.isReady === true && toServerName(known.server) === toServerName(server) && known.silent < maxSilentChecks) {
        known.silent += 1;
        const onAnswer = () => {
          known.silent = 0;
        };
        // An error reply also proves that the connection works.
        known.client.sendCommand(["PING"]).then(onAnswer, onAnswer);
        return;
      }
      opening = true;
      subscriber?.client.destroy();
      const client = createSubscriber(server);
      try {
        await connectRedisClient(client);
        subscriber = { client, server, topics: new Set(), silent: 0 };
        if (closed) client.destroy();
        else for (const topic of listeners.keys()) void settle(topic);
      } catch {
        // The next check tries again.
      } finally {
        opening = false;
      }
    },
    close() {
      closed = true;
      subscriber?.client.destroy();
    },
  };
}
