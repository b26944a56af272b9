/**
 * Archive unpacks a ZIP file (a DOCX) within the limits of `ArchiveCaps`, before any other code reads it.
 *
 * The limits count inflated bytes while they are inflated, because the sizes in a ZIP file can lie. Names stay keys of a
 * map: nothing is written to a disk, so a name such as `../../etc/passwd` is only an entry that no reader asks for.
 */
import { type Entry, fromBuffer, type ZipFile } from "yauzl";
import type { ArchiveCaps } from "../caps.ts";
import { ConversionFailure } from "../failure.ts";

export type ArchiveEntries = ReadonlyMap<string, Uint8Array>;

export async function unpackArchive(bytes: Uint8Array, caps: ArchiveCaps): Promise<ArchiveEntries> {
  const zip = await openArchive(bytes);
  if (zip.entryCount > caps.entries) throw new ConversionFailure(`The archive has more than ${caps.entries} entries.`);
  const entries = new Map<string, Uint8Array>();
  let totalBytes = 0;
  for (const entry of await listEntries(zip, caps.entries)) {
    if (entry.fileName.endsWith("/")) continue;
    if (entries.has(entry.fileName)) throw new ConversionFailure(`The archive has the entry ${toName(entry)} twice.`);
    const content = await inflate(zip, entry, caps, caps.totalBytes - totalBytes);
    totalBytes += content.byteLength;
    entries.set(entry.fileName, content);
  }
  return entries;
}

function openArchive(bytes: Uint8Array): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    fromBuffer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), { lazyEntries: true }, (error, zip) => {
      if (error !== null) reject(new ConversionFailure(`The document is not a DOCX file: ${toReason(error)}.`));
      else resolve(zip);
    });
  });
}

function listEntries(zip: ZipFile, max: number): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  return new Promise((resolve, reject) => {
    zip.on("error", (error: Error) => reject(new ConversionFailure(`The archive is damaged: ${toReason(error)}.`)));
    zip.on("end", () => resolve(entries));
    zip.on("entry", (entry: Entry) => {
      if (entries.push(entry) > max) reject(new ConversionFailure(`The archive has more than ${max} entries.`));
      else zip.readEntry();
    });
    zip.readEntry();
  });
}

function inflate(zip: ZipFile, entry: Entry, caps: ArchiveCaps, leftBytes: number): Promise<Uint8Array> {
  const name = toName(entry);
  return new Promise((resolve, reject) => {
    const refuse = (reason: string) => reject(new ConversionFailure(reason));
    const damaged = (error: Error) => refuse(`The entry ${name} of the archive is damaged: ${toReason(error)}.`);
    const isEncrypted = (entry.generalPurposeBitFlag & 1) === 1;
    if (isEncrypted) return refuse(`The entry ${name} of the archive is encrypted; remove the password.`);
    zip.openReadStream(entry, (error, stream) => {
      if (error !== null) return damaged(error);
      const chunks: Buffer[] = [];
      let size = 0;
      stream.on("error", damaged);
      stream.on("end", () => resolve(Buffer.concat(chunks)));
      stream.on("data", (chunk: Buffer) => {
        size += chunk.byteLength;
        const tooLarge = findExcess(size, entry.compressedSize, caps, leftBytes);
        if (tooLarge === undefined) chunks.push(chunk);
        else {
          refuse(`The entry ${name} of the archive ${tooLarge}.`);
          stream.destroy();
        }
      });
    });
  });
}

/** Entries below this size may have any ratio: a short text of one letter is no bomb. */
const ratioFreeBytes = 1024 * 1024;

function findExcess(size: number, compressedSize: number, caps: ArchiveCaps, leftBytes: number): string | undefined {
  if (size > caps.entryBytes) return `inflates to more than ${caps.entryBytes} bytes`;
  if (size > leftBytes) return `makes the archive inflate to more than ${caps.totalBytes} bytes`;
  if (size > ratioFreeBytes && size > compressedSize * caps.ratio) return `inflates to more than ${caps.ratio} times its size`;
  return undefined;
}

function toName({ fileName }: Entry): string {
  return JSON.stringify(fileName.slice(0, 100));
}

function toReason({ message }: Error): string {
  return message.replace(/\.$/, "");
}
