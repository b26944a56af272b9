/**
 * Viewer sends one stream to one client: past events first, then live, without a gap.
 *
 * A viewer that is behind reads pages at the pace of its client. At the end of the log it joins the feed, which hands it
 * every later page; writing it is then one call of the host. A client that does not read makes the viewer leave the feed,
 * so it costs only its position and what the host has buffered. This module must not know HTTP.
 */
import type { Clock } from "../../../realtime/ports.ts";
import { StorageUnavailableError } from "../../platform/storage/port.ts";
import type { BodySink, StreamedBody } from "../host/port.ts";
import type { Feeds } from "./feeds.ts";
import type { KeepAlive, KeptStream } from "./keepAlive.ts";
import type { OpenedStream, StreamEvent, StreamItem } from "./port.ts";
import type { StreamFormat } from "./streamFormat.ts";
import type { AdmittedReader } from "./streamGate.ts";
import type { FeedMember, TimelineFeed } from "./timelineFeed.ts";
import type { SharedItem, TimelinePage } from "./timelinePage.ts";

/** What all viewers share. */
export interface ViewerParts {
  readonly clock: Clock;
  readonly keepAlive: KeepAlive;
  readonly feeds: Feeds;
}

/** The stream of a deleted article ends at the latest after this time, even if its last event could not be read. */
const lastEventsMs = 500;

export class Viewer implements StreamedBody, FeedMember, KeptStream {
  position: number;
  writtenAtMs = 0;
  readonly #parts: ViewerParts;
  readonly #reader: AdmittedReader;
  readonly #format: StreamFormat;
  readonly #log: string;
  readonly #keeps: ((event: StreamEvent) => boolean) | undefined;
  /** Position of the last item sent, or -1. A reader without a position would resume at a later "now" and miss events. */
  #sentPosition = -1;
  #sink: BodySink | undefined;
  #feed: TimelineFeed | undefined;
  #hasRoom = true;
  #isReading = false;
  #cancelStop: (() => void) | undefined;

  constructor(parts: ViewerParts, reader: AdmittedReader, { log, position, keeps }: OpenedStream, format: StreamFormat) {
    this.#parts = parts;
    this.#reader = reader;
    this.#format = format;
    this.#log = log;
    this.#keeps = keeps;
    this.position = position;
  }

  open(sink: BodySink): void {
    const { feeds, keepAlive } = this.#parts;
    this.#sink = sink;
    this.#feed = feeds.open(this.#log);
    this.#write(this.#format.head);
    keepAlive.add(this);
    this.#reader.onEnd((reason) => (reason === "deleted" ? this.#finishSoon() : this.#stop()));
    void this.#catchUp();
  }

  drain(): void {
    if (this.#hasRoom) return;
    this.#hasRoom = true;
    void this.#catchUp();
  }

  close(): void {
    const feed = this.#feed;
    this.#sink = undefined;
    this.#feed = undefined;
    if (feed !== undefined) {
      feed.leave(this);
      this.#parts.feeds.release(feed);
      this.#parts.keepAlive.delete(this);
      this.#cancelStop?.();
    }
    this.#reader.leave();
  }

  keepAlive(): void {
    if (this.#hasRoom) this.#write(this.#format.keepAlive);
  }

  deliver(page: TimelinePage): void {
    this.#send(page);
    if (this.#hasRoom && page.last === page.tail) this.#sendPosition();
  }

  show(signal: SharedItem): void {
    if (this.#hasRoom) this.#write(signal.encoded(this.#format));
  }

  finish(): void {
    this.#sendItem({ kind: "end" });
    this.#sink?.end();
  }

  lose(): void {
    void this.#catchUp();
  }

  fail(reason: unknown): void {
    // The store is unavailable: end the stream normally, so that the reader reconnects and resumes.
    if (reason instanceof StorageUnavailableError) this.#stop();
    else this.#sink?.cut(reason);
  }

  /** Ends the stream early. The client reconnects. One that does not read is disconnected instead of being waited for. */
  #stop(): void {
    if (this.#hasRoom) this.#sink?.end();
    else this.#sink?.cut();
  }

  /** The article was deleted. Its last event is in the log, or will not come any more. */
  #finishSoon(): void {
    if (this.#hasRoom) {
      this.#cancelStop = this.#parts.clock.after(lastEventsMs, () => this.#stop());
      this.#feed?.wake();
    } else this.#stop();
  }

  /** Reads until the viewer joins the feed, its client stops reading, or the timeline is over. */
  async #catchUp(): Promise<void> {
    const feed = this.#feed;
    if (this.#isReading || feed === undefined) return;
    this.#isReading = true;
    try {
      while (this.#sink !== undefined && this.#hasRoom) {
        if (feed.join(this)) {
          this.#sendPosition();
          return;
        }
        const page = await feed.read(this.position);
        if (page === "lost") {
          await this.#reset(feed);
          continue;
        }
        this.#send(page);
        if (!this.#hasRoom || this.position < page.tail || feed.isPast(this.position)) continue;
        this.#sendPosition();
        if (await feed.isOverAt(this.position)) this.finish();
      }
    } catch (reason) {
      this.fail(reason);
    } finally {
      this.#isReading = false;
    }
  }

  async #reset(feed: TimelineFeed): Promise<void> {
    const { snapshot, tail } = await feed.source.snapshot();
    this.position = tail;
    this.#sentPosition = tail;
    this.#sendItem({ kind: "reset", token: feed.source.toToken(tail), snapshot });
  }

  #send(page: TimelinePage): void {
    if (page.last <= this.position) return;
    const selected = page.select(this.position, this.#format, this.#keeps);
    this.position = page.last;
    if (selected === undefined) return;
    this.#sentPosition = selected.last;
    this.#write(selected.bytes);
  }

  /** Sends the position if the last item was before it, so that a filtered reader advances too. */
  #sendPosition(): void {
    const feed = this.#feed;
    if (feed === undefined || this.#sentPosition === this.position) return;
    this.#sentPosition = this.position;
    this.#sendItem({ kind: "position", token: feed.source.toToken(this.position) });
  }

  #sendItem(item: StreamItem): void {
    this.#write(this.#format.encode(item));
  }

  #write(bytes: Uint8Array): void {
    if (this.#sink === undefined) return;
    this.writtenAtMs = this.#parts.clock.now();
    this.#hasRoom = this.#sink.write(bytes);
    if (!this.#hasRoom) this.#feed?.leave(this);
  }
}
