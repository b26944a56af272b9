/**
 * The file check decides whether LMDB can safely map a data file.
 *
 * LMDB trusts the meta page. If the file ends before a page that is in use, the first access to that page ends the
 * process with SIGBUS, which no handler can catch. A file that is not an LMDB file also ends the process.
 *
 * A good file may be shorter than its meta page says, because pages that one transaction allocated and freed again were
 * never written. Only for such a file are the trees read: each page in use must lie within the file. (The list of free
 * pages would be shorter to read, but LMDB may omit some pages from it.)
 *
 * Layout: `dependencies/lmdb/libraries/liblmdb/mdb.c` in the package `lmdb`, data version 2: MDB_page_header, MDB_meta,
 * MDB_db, MDB_node, MDB_ovpage, with 64-bit numbers. The file states its page size. The newer of the two meta pages is
 * used, as LMDB does without `overlappingSync`; the third meta page, which exists only with that option, is ignored.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { StorageDamagedError } from "../port.ts";

const magic = 0xbeefc0de;
/** Offsets in a meta page, including the page header. */
const meta = { magic: 24, pageSize: 48, freeTree: 48, mainTree: 96, lastPage: 144, transaction: 152, end: 168 };
const tree = { depth: 6, root: 40 };
const page = { flags: 18, lower: 20, nodes: 24 };
const node = { high: 2, flags: 4, keyLength: 6, key: 8 };
const pageFlags = { branch: 0x01, leaf: 0x02, leafWithoutNodes: 0x20 };
const nodeFlags = { overflow: 0x01, tree: 0x02 };
const noRoot = 0xffff_ffff_ffff_ffffn;
const advice = "It was left as it is. Put the whole data directory back from a backup.";

/** Returns "none" if the file is missing or empty. Throws a StorageDamagedError if LMDB must not map the file. */
export function checkLmdbFile(path: string): "none" | "good" {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "ENOENT") return "none";
    throw reason;
  }
  try {
    const { size } = fstatSync(file);
    if (size === 0) return "none";
    requireWhole(file, path, size);
    return "good";
  } finally {
    closeSync(file);
  }
}

function requireWhole(file: number, path: string, size: number): void {
  const notStore = new StorageDamagedError(`${path} is not a store, or only the beginning of one. ${advice}`);
  const readMeta = (at: number): Buffer => {
    const bytes = Buffer.alloc(meta.end);
    if (readSync(file, bytes, 0, bytes.length, at) < bytes.length || bytes.readUInt32LE(meta.magic) !== magic) throw notStore;
    return bytes;
  };
  const first = readMeta(0);
  const pageSize = first.readUInt32LE(meta.pageSize);
  if (pageSize < 256 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) throw notStore;
  const second = readMeta(pageSize);
  const newest = first.readBigUInt64LE(meta.transaction) >= second.readBigUInt64LE(meta.transaction) ? first : second;
  const pages = Number(newest.readBigUInt64LE(meta.lastPage)) + 1;
  if (size >= pages * pageSize) return;

  let visited = 0;
  const requireWithin = (end: number): void => {
    if (end * pageSize <= size) return;
    throw new StorageDamagedError(
      `${path} is cut off: it has ${size} bytes, but the page that should end at byte ${end * pageSize} is in use. ${advice}`,
    );
  };
  const requireTree = (bytes: Buffer, at: number): void => {
    const root = bytes.readBigUInt64LE(at + tree.root);
    if (root !== noRoot) requirePages(Number(root), bytes.readUInt16LE(at + tree.depth));
  };
  /** Checks a page of a tree and all pages below it. `depth` is 1 for a leaf. */
  const requirePages = (number: number, depth: number): void => {
    requireWithin(number + 1);
    const bytes = Buffer.alloc(pageSize);
    readSync(file, bytes, 0, pageSize, number * pageSize);
    const flags = bytes.readUInt16LE(page.flags);
    visited += 1;
    if (visited > pages || (flags & (depth > 1 ? pageFlags.branch : pageFlags.leaf)) === 0) throw new RangeError(`page ${number}`);
    if ((flags & pageFlags.leafWithoutNodes) !== 0) return;
    const nodes = bytes.readUInt16LE(page.lower) >> 1;
    for (let index = 0; index < nodes; index += 1) {
      const at = bytes.readUInt16LE(page.nodes + index * 2) + page.nodes;
      const data = at + node.key + bytes.readUInt16LE(at + node.keyLength);
      const kind = bytes.readUInt16LE(at + node.flags);
      // In a branch node, the flags field holds the highest bits of the child's page number.
      if (depth > 1) requirePages(kind * 2 ** 32 + bytes.readUInt16LE(at + node.high) * 2 ** 16 + bytes.readUInt16LE(at), depth - 1);
      else if ((kind & nodeFlags.overflow) !== 0) requireWithin(Number(bytes.readBigUInt64LE(data) + bytes.readBigUInt64LE(data + 16)));
      else if ((kind & nodeFlags.tree) !== 0) requireTree(bytes, data);
    }
  };
  try {
    requireTree(newest, meta.freeTree);
    requireTree(newest, meta.mainTree);
  } catch (reason) {
    if (!(reason instanceof RangeError)) throw reason;
    throw new StorageDamagedError(`${path} is cut off and its pages make no sense (${reason.message}). ${advice}`, { cause: reason });
  }
}
