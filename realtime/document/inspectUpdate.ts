/**
 * inspectUpdate validates a Yjs update (v1) before any other code reads it. It accepts only text, deletions and skips
 * under the root texts of an article.
 *
 * `Y.applyUpdate` validates nothing and is not atomic. A truncated update throws after half of it was applied, one long
 * run makes the document ignore all later updates of a client, and an embed shifts every offset. Therefore this reader
 * parses the same bytes with the same lib0 functions, accepts a strict subset, and never throws.
 * It must not know a document: it reports what the update builds on and does not judge it.
 */
import * as decoding from "lib0/decoding";
import * as Y from "yjs";
import { articleFiles } from "../../api/schema/article.ts";
import type { RoomLimits } from "../ports.ts";
import { clientIdEnd } from "../protocol.ts";

/** Clocks of one client id, from `from` to `to` − 1. */
export interface ClockRange {
  readonly clientId: number;
  readonly from: number;
  readonly to: number;
}

/** Structs of one client. Structs behind a skip cannot be integrated before the skipped clocks arrive. */
export interface Section extends ClockRange {
  readonly skips: readonly ClockRange[];
  /** The section has skip or deleted runs, which are clocks without text. */
  readonly hasRuns: boolean;
  /** Offset of the section's first byte in the update. `end` is the offset behind its last byte. */
  readonly start: number;
  readonly end: number;
}

export interface InspectedUpdate {
  readonly bytes: Uint8Array;
  readonly sections: readonly Section[];
  /** For each other client id, the highest clock that an item of this update has as its neighbour. */
  readonly buildsOn: ReadonlyMap<number, number>;
  readonly deletes: readonly ClockRange[];
  readonly inserts: readonly Insert[];
  /** UTF-8 bytes of all inserts. */
  readonly textBytes: number;
}

/** Text that an update inserts. */
export interface Insert extends ClockRange {
  readonly text: string;
  /** Name of the root text. Undefined when the insert has a neighbour: then the root is that of the neighbour. */
  readonly root: string | undefined;
  readonly neighbour: { readonly clientId: number; readonly clock: number } | undefined;
}

export type Inspection =
  | { readonly kind: "accepted"; readonly update: InspectedUpdate }
  | { readonly kind: "refused"; readonly detail: string };

const roots: ReadonlySet<string> = new Set(articleFiles);
/** First sentence of each refusal that a rich-text binding (y-prosemirror, Tiptap) causes. Such a binding expects nested types. */
const documentShape = `A document here is Markdown in three Y.Text roots: ${articleFiles.join(", ")}.`;
const nestedType = `${documentShape} A nested type, as ProseMirror and Tiptap write, is refused.`;
const flags = { origin: 128, rightOrigin: 64, parentKey: 32, content: 31 } as const;
const content = { gc: 0, deleted: 1, string: 4, type: 7, skip: 10 } as const;
/** The parts of a struct's first byte that a plain update may have. */
export const structFlags = { origin: flags.origin, rightOrigin: flags.rightOrigin, string: content.string } as const;
/** Upper end of all clocks. A client id that has reached it cannot be used any more. */
export const clockEnd = 2 ** 32;
const none: readonly ClockRange[] = [];

class Refusal extends Error {}

function refuse(detail: string): never {
  throw new Refusal(detail);
}

export function inspectUpdate(bytes: Uint8Array, limits: Pick<RoomLimits, "update.clientIds" | "update.run">): Inspection {
  try {
    return { kind: "accepted", update: new Reader(bytes, limits).read() };
  } catch (error) {
    if (error instanceof Refusal) return { kind: "refused", detail: error.message };
    // lib0 throws when the bytes end early, an integer exceeds 2^53 or a text is not UTF-8.
    return { kind: "refused", detail: "The update is cut or not in Yjs encoding." };
  }
}

/** Returns the clocks that an update claims, even if the update is refused. Returns none when they cannot be read. */
export function claimedClocks(bytes: Uint8Array): readonly ClockRange[] {
  try {
    const { from, to } = Y.parseUpdateMeta(bytes);
    return [...to].map(([clientId, end]) => ({ clientId, from: from.get(clientId) ?? 0, to: end }));
  } catch {
    return none;
  }
}

class Reader {
  private readonly bytes: Uint8Array;
  private readonly decoder: decoding.Decoder;
  private readonly maxRun: number;
  private readonly maxClientIds: number;
  private readonly sections = new Map<number, Section>();
  private readonly buildsOn = new Map<number, number>();
  private readonly deletes: ClockRange[] = [];
  private lastClientId = clientIdEnd;
  private runs = 0;
  private readonly inserts: Insert[] = [];
  private textBytes = 0;

  constructor(bytes: Uint8Array, limits: Pick<RoomLimits, "update.clientIds" | "update.run">) {
    this.bytes = bytes;
    this.decoder = decoding.createDecoder(bytes);
    this.maxRun = limits["update.run"];
    this.maxClientIds = limits["update.clientIds"];
  }

  read(): InspectedUpdate {
    const sections = this.number();
    for (let section = 0; section < sections; section += 1) this.readStructs();
    const deleting = this.number();
    for (let section = 0; section < deleting; section += 1) this.readDeletes();
    if (decoding.hasContent(this.decoder)) refuse("Bytes are left over after the update.");
    const { bytes, buildsOn, deletes, inserts, textBytes } = this;
    return { bytes, sections: [...this.sections.values()], buildsOn, deletes, inserts, textBytes };
  }

  private number(): number {
    return decoding.readVarUint(this.decoder);
  }

  private clientId(): number {
    const clientId = this.number();
    if (clientId >= clientIdEnd) refuse("A client id is not below 2^32.");
    return clientId;
  }

  private clock(): number {
    const clock = this.number();
    if (clock >= clockEnd) refuse("A clock is beyond 2^32.");
    return clock;
  }

  private runEnd(from: number, length: number): number {
    // Yjs never writes empty structs, and they would break its search by clock.
    if (length === 0) refuse("A run of length 0 is not accepted.");
    if (from + length > clockEnd) refuse("A clock is beyond 2^32.");
    return from + length;
  }

  /** Like `runEnd`, with a maximum length. Skip and deleted runs have no content bytes, so no size limit bounds them. */
  private boundedRunEnd(from: number, length: number): number {
    this.runs += 1;
    if (length > this.maxRun) refuse(`A run of ${length} is longer than ${this.maxRun}.`);
    return this.runEnd(from, length);
  }

  private readStructs(): void {
    const start = this.decoder.pos;
    const runsBefore = this.runs;
    const structs = this.number();
    const clientId = this.clientId();
    const from = this.clock();
    // A second section would replace the first one when applied.
    if (structs === 0 || this.sections.has(clientId)) refuse("Each client must have one section, with structs.");
    // Yjs writes this order, and its merge of two updates silently drops a section that breaks it.
    if (clientId > this.lastClientId) refuse("The sections of an update must be in descending order of their client ids.");
    this.lastClientId = clientId;
    let clock = from;
    let to = from;
    let skips: ClockRange[] | undefined;
    for (let struct = 0; struct < structs; struct += 1) {
      const info = decoding.readUint8(this.decoder);
      if (info === content.skip) {
        const end = this.boundedRunEnd(clock, this.number());
        skips ??= [];
        skips.push({ clientId, from: clock, to: end });
        clock = end;
        continue;
      }
      // GC structs come from nested types, which are not allowed here. Yjs throws when an item continues where a GC struct
      // ends. The update would be in the log by then, so the document could never be opened again.
      if (info === content.gc) refuse("GC structs are not accepted: only text can be deleted here.");
      clock = this.readItem(info, clientId, clock);
      to = clock;
    }
    const hasRuns = this.runs > runsBefore;
    this.sections.set(clientId, { clientId, from, to, skips: skips ?? none, hasRuns, start, end: this.decoder.pos });
    if (this.sections.size > this.maxClientIds) refuse(`An update may hold text of at most ${this.maxClientIds} client ids.`);
  }

  private readItem(info: number, clientId: number, clock: number): number {
    const origin = (info & flags.origin) === 0 ? undefined : this.neighbour(clientId, clock);
    const rightOrigin = (info & flags.rightOrigin) === 0 ? undefined : this.neighbour(clientId, clock);
    let root: string | undefined;
    if (origin === undefined && rightOrigin === undefined) {
      if (this.number() !== 1) refuse(nestedType);
      root = decoding.readVarString(this.decoder);
      if (!roots.has(root)) refuse(`${documentShape} The root ${JSON.stringify(root.slice(0, 64))} is refused.`);
    }
    // An item with a neighbour is encoded without its key, but Yjs sets this flag for keyed items in that case too.
    if ((info & flags.parentKey) !== 0) refuse("Keys of maps and attributes are not accepted.");
    const kind = info & flags.content;
    if (kind === content.deleted) return this.boundedRunEnd(clock, this.number());
    if (kind === content.type) refuse(nestedType);
    if (kind !== content.string) refuse("Only text is accepted: no formats, embeds, types, values or subdocuments.");
    const at = this.decoder.pos;
    this.textBytes += this.number();
    this.decoder.pos = at;
    const text = decoding.readVarString(this.decoder);
    const to = this.runEnd(clock, text.length);
    this.inserts.push({ clientId, from: clock, to, text, root, neighbour: origin ?? rightOrigin });
    return to;
  }

  private neighbour(clientId: number, clock: number): { clientId: number; clock: number } {
    const neighbour = { clientId: this.clientId(), clock: this.clock() };
    if (neighbour.clientId === clientId) {
      // Yjs assumes that a neighbour of the same client id has a lower clock. Otherwise it throws midway.
      if (neighbour.clock >= clock) refuse("An item has a neighbour of its own client id whose clock is not lower.");
    } else {
      this.buildsOn.set(neighbour.clientId, Math.max(this.buildsOn.get(neighbour.clientId) ?? 0, neighbour.clock));
    }
    return neighbour;
  }

  private readDeletes(): void {
    const clientId = this.clientId();
    for (let left = this.number(); left > 0; left -= 1) {
      const from = this.clock();
      this.deletes.push({ clientId, from, to: this.boundedRunEnd(from, this.number()) });
    }
  }
}
