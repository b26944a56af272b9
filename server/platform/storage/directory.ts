/**
 * The directory finds records by text instead of by id (key hash, public slug, username, e-mail).
 *
 * A directory row is a claim: it is written before its target record. The row lives in the partition of its text and
 * the target in its own partition, so no single commit can write both. A row alone therefore proves nothing: a reader
 * must load the target and check that it points back to the text. A claim is free again if its target does not point
 * back 60 s after the claim.
 */
import { createHash } from "node:crypto";
import { type Partition, partitionCount, type Storage } from "./port.ts";
import { defineRecord } from "./recordType.ts";
import { conflict, retryOnConflict } from "./retryOnConflict.ts";

/** Time within which the commit of the target must follow the claim. */
export const claimMs = 60_000;

interface DirectoryRow {
  readonly space: string;
  readonly text: string;
  readonly target: string;
  readonly atMs: number;
}

function toKey(space: string, text: string): string {
  return `${space}/${text}`;
}

/** The hash prevents a caller from choosing the partition through the text. */
function partitionOfText(key: string): Partition {
  return createHash("sha256").update(key).digest().readUInt32BE(0) % partitionCount;
}

export const directoryRow = defineRecord<DirectoryRow>({
  name: "directory",
  version: 1,
  partitionOf: partitionOfText,
  keyOf: (row) => toKey(row.space, row.text),
});

export interface Directory {
  /**
   * Claims a text for a target. A repeated claim for the same target returns "claimed". `pointsBack` checks whether the
   * current target still has this text; it is called only if the claim of another target is older than `claimMs`.
   */
  claim(space: string, text: string, target: string, pointsBack: (target: string) => Promise<boolean>): Promise<"claimed" | "taken">;
  /** Returns the target of a text. The caller must read the target and check that it points back to the text. */
  find(space: string, text: string): Promise<string | undefined>;
  /** Removes the claim if the text still leads to this target. */
  release(space: string, text: string, target: string): Promise<void>;
}

export function createDirectory(storage: Pick<Storage, "records" | "commit" | "now">): Directory {
  const read = (space: string, text: string) => storage.records.get(directoryRow, toKey(space, text));
  return {
    claim(space, text, target, pointsBack) {
      const partition = partitionOfText(toKey(space, text));
      return retryOnConflict("directory.claim", async () => {
        const replacing = (await read(space, text)) ?? null;
        const atMs = storage.now();
        if (replacing !== null && replacing.value.target !== target) {
          if (atMs - replacing.value.atMs < claimMs) return "taken";
          if (await pointsBack(replacing.value.target)) return "taken";
        }
        // A claim that already belongs to this target is written again, because a repeated claim restarts the 60 s.
        const value = { space, text, target, atMs };
        const result = await storage.commit({ partition, records: [{ op: "put", type: directoryRow, value, replacing }] });
        return result.ok ? "claimed" : conflict;
      });
    },
    async find(space, text) {
      return (await read(space, text))?.value.target;
    },
    release(space, text, target) {
      const partition = partitionOfText(toKey(space, text));
      return retryOnConflict("directory.release", async () => {
        const replacing = await read(space, text);
        if (replacing === undefined || replacing.value.target !== target) return undefined;
        const result = await storage.commit({ partition, records: [{ op: "delete", type: directoryRow, replacing }] });
        return result.ok ? undefined : conflict;
      });
    },
  };
}
