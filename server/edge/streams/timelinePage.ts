/** TimelinePage holds consecutive events of one log. Each event is encoded once for each form, and all viewers share the bytes. */
import type { LogEntry } from "../../platform/storage/port.ts";
import type { EventItem, SignalItem, StreamEvent } from "./port.ts";
import type { StreamFormat } from "./streamFormat.ts";

/** An item that is encoded once for each form, however many viewers get it. */
export class SharedItem<Item extends EventItem | SignalItem = EventItem | SignalItem> {
  readonly item: Item;
  readonly #encoded = new Map<StreamFormat, Uint8Array>();

  constructor(item: Item) {
    this.item = item;
  }

  encoded(format: StreamFormat): Uint8Array {
    let bytes = this.#encoded.get(format);
    if (bytes === undefined) {
      bytes = format.encode(this.item);
      this.#encoded.set(format, bytes);
    }
    return bytes;
  }
}

class SharedEvent extends SharedItem<EventItem> {
  readonly position: number;

  constructor(position: number, item: EventItem) {
    super(item);
    this.position = position;
  }
}

/** The events of a page that one viewer gets. */
export interface Selection {
  readonly bytes: Uint8Array;
  /** Position of the last of them. */
  readonly last: number;
}

export class TimelinePage {
  /** The page has every event after this position. */
  readonly after: number;
  /** Position of its last event; `after` if it has none. */
  readonly last: number;
  /** Position of the last entry of the log when the page was read. */
  readonly tail: number;
  /** Size of the stored events. */
  readonly bytes: number;
  readonly #events: readonly SharedEvent[];
  readonly #encoded = new Map<StreamFormat, Uint8Array>();

  constructor(after: number, tail: number, entries: readonly LogEntry[], toItem: (entry: LogEntry) => EventItem) {
    this.after = after;
    this.tail = tail;
    this.last = entries.at(-1)?.position ?? after;
    this.bytes = entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
    this.#events = entries.map((entry) => new SharedEvent(entry.position, toItem(entry)));
  }

  /** Returns the events after a position, as the bytes of one form. Undefined if there are none. */
  select(position: number, format: StreamFormat, keeps?: (event: StreamEvent) => boolean): Selection | undefined {
    if (position === this.after && keeps === undefined) return this.#all(format);
    const events = this.#events.filter((each) => each.position > position && (keeps?.(each.item.event) ?? true));
    const last = events.at(-1);
    return last === undefined ? undefined : { bytes: join(events, format), last: last.position };
  }

  #all(format: StreamFormat): Selection | undefined {
    if (this.#events.length === 0) return undefined;
    let bytes = this.#encoded.get(format);
    if (bytes === undefined) {
      bytes = join(this.#events, format);
      this.#encoded.set(format, bytes);
    }
    return { bytes, last: this.last };
  }
}

function join(events: readonly SharedEvent[], format: StreamFormat): Uint8Array {
  const pieces = events.map((event) => event.encoded(format));
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}
