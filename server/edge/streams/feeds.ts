/** Feeds keeps one feed for each log that viewers of this node follow, from the first viewer to the last. */
import type { Clock } from "../../../realtime/ports.ts";
import { ownerOfLog } from "../../platform/actors/trimRows.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { OpenSource } from "./port.ts";
import type { StreamLogs } from "./streamLogs.ts";
import { TimelineFeed } from "./timelineFeed.ts";

/** `open` and `release` count the viewers of a feed. */
export interface Feeds {
  open(log: string): TimelineFeed;
  release(feed: TimelineFeed): void;
}

export interface FeedsOptions {
  readonly storage: Pick<Storage, "bus">;
  readonly logs: StreamLogs;
  readonly clock: Clock;
  /** Sources by the first part of the name of their logs. */
  readonly sources: Readonly<Record<string, OpenSource>>;
  /** Most bytes of lately read pages that one feed keeps (`sse.buffer`). */
  readonly recentBytes: number;
}

export function createFeeds({ storage, logs, clock, sources, recentBytes }: FeedsOptions): Feeds {
  const feeds = new Map<string, { readonly feed: TimelineFeed; viewers: number }>();

  function create(log: string): TimelineFeed {
    const openSource = sources[log.slice(0, log.indexOf("/"))];
    if (openSource === undefined) throw new Error(`the log ${log} has no stream`);
    return new TimelineFeed({
      source: openSource(ownerOfLog(log)),
      clock,
      subscribe: (topic, listener) => storage.bus.subscribe(topic, listener),
      tail: () => logs.tail(log),
      read: (after) => logs.read(log, after),
      recentBytes,
    });
  }

  return {
    open(log) {
      let found = feeds.get(log);
      if (found === undefined) {
        found = { feed: create(log), viewers: 0 };
        feeds.set(log, found);
      }
      found.viewers += 1;
      return found.feed;
    },
    release(feed) {
      const { log } = feed.source;
      const found = feeds.get(log);
      if (found === undefined) return;
      found.viewers -= 1;
      if (found.viewers > 0) return;
      feeds.delete(log);
      feed.close();
    },
  };
}
