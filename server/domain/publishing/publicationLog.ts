/**
 * PublicationLog records which text of an article was public when: one log for each article, with one entry of about 40 bytes
 * for each change of the text or mode of the page. No other module knows the layout.
 *
 * An entry is the beginning of a period, which ends at the next entry. The machine of the public link reports each change as
 * a fact, so an entry is stored in the commit of the change (PL25). A Live page may add an entry each second.
 */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { PublicLinkMode } from "../../../api/schema/article.ts";
import type { ShownText } from "../../../machines/publicLink.ts";
import { type LogEntry, StorageDamagedError } from "../../platform/storage/port.ts";

const layout = 1;
const hidden = 255;
const modes = PublicLinkMode.options;

export interface PublicationEntry {
  /** Store time of the change, Unix milliseconds. */
  readonly atMs: number;
  /** Text and mode of the page from then on; absent if the page was unpublished. */
  readonly shown?: ShownText;
}

/** Name of the log, which is in the article's partition. */
export function publicationLog(articleId: string): string {
  return `publication/${articleId}`;
}

export function encodePublication({ atMs, shown }: PublicationEntry): Uint8Array {
  const encoder = encoding.createEncoder();
  encoding.writeUint8(encoder, layout);
  encoding.writeVarUint(encoder, atMs);
  encoding.writeUint8(encoder, shown === undefined ? hidden : modes.indexOf(shown.mode));
  if (shown !== undefined) {
    encoding.writeVarUint(encoder, shown.revision);
    encoding.writeUint8Array(encoder, Buffer.from(shown.contentHash, "hex"));
  }
  return encoding.toUint8Array(encoder);
}

export function decodePublication({ bytes }: Pick<LogEntry, "bytes">): PublicationEntry {
  const decoder = decoding.createDecoder(bytes);
  const found = decoding.readUint8(decoder);
  if (found !== layout) throw new StorageDamagedError(`the log of a public page contains an entry with the unknown layout ${found}`);
  const atMs = decoding.readVarUint(decoder);
  const kind = decoding.readUint8(decoder);
  if (kind === hidden) return { atMs };
  const mode = modes[kind];
  if (mode === undefined) throw new StorageDamagedError("the log of a public page contains an unknown mode");
  const revision = decoding.readVarUint(decoder);
  const contentHash = Buffer.from(decoding.readTailAsUint8Array(decoder)).toString("hex");
  return { atMs, shown: { mode, revision, contentHash } };
}
