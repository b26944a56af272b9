/**
 * The directory: the few things found by text instead of by id (key hash, public slug, username, e-mail).
 *
 * A row is a claim, written before the record it leads to; it lives in the partition of its text, the
 * record in its own, so no commit holds both. Therefore a row alone proves nothing: a reader follows it
 * and checks that the target points back. A claim whose target does not, 60 s later, is free again.
 */
import { createHash } from "node:crypto";
import { type Partition, partitionCount, type Storage } from "./port.ts";
import { defineRecord } from "./recordType.ts";

/** A claim must be followed by its target's commit within this time. */
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

/** Spread by hash, so that no caller's text chooses where it lands. */
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
   * Takes a text for a target. `pointsBack` tells whether the target of another's claim still has this
   * text; it is asked only for a claim that is old enough. A repeat for the same target is "claimed".
   */
  claim(space: string, text: string, target: string, pointsBack: (target: string) => Promise<boolean>): Promise<"claimed" | "taken">;
  /** Where a text leads; the caller reads the target and checks that it points back. */
  find(space: string, text: string): Promise<string | undefined>;
  /** Frees a text, if it still leads to this target. */
  release(space: string, text: string, target: string): Promise<void>;
}

export function createDirectory(storage: Pick<Storage, "records" | "commit" | "now">): Directory {
  const read = (space: string, text: string) => storage.records.get(directoryRow, toKey(space, text));
  return {
    async claim(space, text, target, pointsBack) {
      const partition = partitionOfText(toKey(space, text));
      for (;;) {
        const replacing = (await read(space, text)) ?? null;
        const atMs = storage.now();
        if (replacing !== null && replacing.value.target !== target) {
          if (atMs - replacing.value.atMs < claimMs) return "taken";
          if (await pointsBack(replacing.value.target)) return "taken";
        }
        // Written also when it is this target's already: a repeat begins its 60 s anew.
        const value = { space, text, target, atMs };
        const result = await storage.commit({ partition, records: [{ op: "put", type: directoryRow, value, replacing }] });
        if (result.ok) return "claimed";
      }
    },
    async find(space, text) {
      return (await read(space, text))?.value.target;
    },
    async release(space, text, target) {
      const partition = partitionOfText(toKey(space, text));
      for (;;) {
        const replacing = await read(space, text);
        if (replacing === undefined || replacing.value.target !== target) return;
        const result = await storage.commit({ partition, records: [{ op: "delete", type: directoryRow, replacing }] });
        if (result.ok) return;
      }
    },
  };
}
