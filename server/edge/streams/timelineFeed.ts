/**
 * TimelineFeed follows one log for all its viewers on this node: it reads each new entry once and hands the page to every
 * viewer that is at the end of the log.
 *
 * The bus reports new entries at once. It may lose messages, so the end of the log is polled too while a viewer waits.
 * A viewer that is behind reads by itself and joins when it reaches the feed. The feed then promises it every later page.
 * After a failure the store may have fewer entries than before, so a changed end is a reason to read, not only a higher one.
 * Signals, which no log keeps, are handed to the viewers that are at the end of the log.
 */
import type { Clock } from "../../../realtime/ports.ts";
import type { LogRead } from "../../platform/storage/port.ts";
import type { TimelineSource } from "./port.ts";
import { SharedItem, TimelinePage } from "./timelinePage.ts";

export interface FeedOptions {
  readonly source: TimelineSource;
  readonly clock: Clock;
  readonly subscribe: (topic: string, listener: () => void) => () => void;
  /** Position of the last entry. */
  readonly tail: () => Promise<number>;
  readonly read: (after: number) => Promise<LogRead>;
  /** Most bytes of pages that are kept for other viewers at the same place. */
  readonly recentBytes: number;
  readonly pollMs?: number;
}

/** A viewer that has joined the feed. */
export interface FeedMember {
  readonly position: number;
  /** Receives the next page. It may leave the feed meanwhile. */
  deliver(page: TimelinePage): void;
  /** Receives an item that no log keeps. It may leave the feed meanwhile. */
  show(signal: SharedItem): void;
  /** No more events will come, and the viewer has all of them. */
  finish(): void;
  /** The position of the viewer is not in the log any more. It has left the feed and must read by itself. */
  lose(): void;
  /** The store could not be read. */
  fail(reason: unknown): void;
}

export class TimelineFeed {
  readonly source: TimelineSource;
  readonly #options: FeedOptions;
  readonly #unsubscribe: () => void;
  readonly #unwatch: (() => void) | undefined;
  readonly #members = new Set<FeedMember>();
  /** Every member has every entry up to this position. Undefined while it is not known whether that is the end of the log. */
  #position: number | undefined;
  /** The timeline was not over at this position. Only a further entry can change that. */
  #notOverAt: number | undefined;
  /** Pages that were read lately, for other viewers at the same place. Each poll drops the pages that were here at the previous poll. */
  #recent: TimelinePage[] = [];
  /** Number of pages in `#recent` at the last poll. */
  #aged = 0;
  /** Number of wake-ups so far. */
  #announced = 0;
  #isFollowing = false;
  #isClosed = false;
  #cancelPoll: (() => void) | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.source = options.source;
    // Subscribe before the first read, so that no entry between a read and the first page is missed.
    this.#unsubscribe = options.subscribe(options.source.log, () => this.wake());
    this.#unwatch = options.source.watch?.((item) => {
      const signal = new SharedItem(item);
      for (const member of this.#members) member.show(signal);
    });
  }

  /** True if a viewer at this position is behind the members. */
  isPast(position: number): boolean {
    return this.#position !== undefined && this.#position > position;
  }

  /** Adds a viewer that has read everything and whose timeline is not over. Returns false if the viewer must read on. */
  join(member: FeedMember): boolean {
    if (this.#position === undefined || member.position < this.#position || member.position !== this.#notOverAt) return false;
    this.#members.add(member);
    this.#armPoll();
    return true;
  }

  leave(member: FeedMember): void {
    this.#members.delete(member);
  }

  /** Returns the next events after a position, or "lost" if the log does not have this position any more. */
  async read(after: number): Promise<TimelinePage | "lost"> {
    const shared = this.#recent.find((page) => page.after <= after && after < page.last);
    if (shared !== undefined) return shared;
    const { read } = this.#options;
    const announced = this.#announced;
    const found = await read(after);
    if (found.gap || after > found.tail) return "lost";
    if (announced === this.#announced) this.#position ??= found.tail;
    const page = new TimelinePage(after, found.tail, found.entries, (entry) => this.source.toItem(entry));
    this.#keep(page);
    return page;
  }

  /** True if the timeline is over and this position is its end. */
  async isOverAt(position: number): Promise<boolean> {
    if (this.#notOverAt === position) return false;
    // An event that was appended between the two reads is delivered before the end.
    if (await this.source.isOver()) return (await this.#options.tail()) === position;
    this.#notOverAt = position;
    return false;
  }

  /** Reads on at once, because the log or its end may have changed. */
  wake(): void {
    void this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPoll?.();
    this.#unsubscribe();
    this.#unwatch?.();
  }

  async #wake(): Promise<void> {
    this.#announced += 1;
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    try {
      for (let announced = -1; announced !== this.#announced && !this.#isClosed; ) {
        announced = this.#announced;
        await this.#follow();
      }
    } catch (reason) {
      for (const member of [...this.#members]) member.fail(reason);
    } finally {
      this.#isFollowing = false;
      // Nothing is read ahead for viewers that do not read. The first one that reads again finds the end of the log.
      if (this.#members.size === 0) this.#position = undefined;
    }
    this.#armPoll();
  }

  /** Reads up to the end of the log and hands each page to all members. */
  async #follow(): Promise<void> {
    while (!this.#isClosed && this.#members.size > 0 && this.#position !== undefined) {
      let tail: number;
      try {
        tail = await this.#options.tail();
      } catch {
        // The store does not answer now. The next poll tries again, and all members keep their position until then.
        return;
      }
      if (tail === this.#position) return;
      const page = await this.read(this.#position);
      if (page === "lost") {
        this.#position = undefined;
        this.#notOverAt = undefined;
        this.#recent = [];
        this.#aged = 0;
        const lost = [...this.#members];
        this.#members.clear();
        for (const member of lost) member.lose();
        return;
      }
      // The store has given no entry although its end differs. The next poll tries again, so that this is no busy loop.
      if (page.last === this.#position) return;
      this.#position = page.last;
      for (const member of this.#members) member.deliver(page);
      if (page.last === page.tail && (await this.isOverAt(page.last))) {
        for (const member of [...this.#members]) if (member.position === page.last) member.finish();
      }
    }
  }

  #keep(page: TimelinePage): void {
    if (page.bytes === 0) return;
    this.#recent.push(page);
    let bytes = this.#recent.reduce((sum, each) => sum + each.bytes, 0);
    while (bytes > this.#options.recentBytes) {
      bytes -= this.#recent.shift()?.bytes ?? bytes;
      this.#aged = Math.max(0, this.#aged - 1);
    }
    this.#armPoll();
  }

  #armPoll(): void {
    if (this.#isClosed || (this.#members.size === 0 && this.#recent.length === 0)) return;
    const { clock, pollMs = 1000 } = this.#options;
    this.#cancelPoll ??= clock.after(pollMs, () => {
      this.#cancelPoll = undefined;
      this.#recent.splice(0, this.#aged);
      this.#aged = this.#recent.length;
      void this.#wake();
    });
  }
}
