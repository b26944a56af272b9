/** The bus inside one process: a message reaches each listener in a microtask of its own, so a publisher never runs inside one. */
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
      // A wrapper, so that one function subscribed twice hears twice and each end ends one.
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
