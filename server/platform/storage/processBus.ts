/**
 * The process bus delivers messages inside one process. Each listener runs in its own microtask, so no listener runs
 * during `publish`.
 */
import type { Storage } from "./port.ts";

export function createProcessBus(): Storage["bus"] {
  const topics = new Map<string, Set<(message: Uint8Array) => void>>();
  return {
    publish(topic, message) {
      for (const listener of topics.get(topic) ?? []) {
        queueMicrotask(() => {
          if (topics.get(topic)?.has(listener)) listener(message);
        });
      }
    },
    subscribe(topic, listener) {
      // The wrapper is unique for each subscription. A function that is subscribed twice is called twice, and each end
      // function ends one subscription.
      const own = (message: Uint8Array) => listener(message);
      const listeners = topics.get(topic) ?? new Set();
      topics.set(topic, listeners.add(own));
      return () => {
        listeners.delete(own);
        if (listeners.size === 0 && topics.get(topic) === listeners) topics.delete(topic);
      };
    },
  };
}
