/**
 * What every store must do, whatever it stands on: the suite runs on each adapter. It speaks to the port
 * alone; the clock is handed in, so that leases and timers need no waiting.
 */
import { describe } from "vitest";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { AnyRecordType } from "../../server/platform/storage/recordType.ts";
import { blobTests } from "./storageBlobs.ts";
import { dueTests } from "./storageDue.ts";
import { indexTests } from "./storageIndexes.ts";
import { logTests } from "./storageLogs.ts";
import { propertyTests } from "./storageModel.ts";
import { recordTests } from "./storageRecords.ts";
import { sharedTests } from "./storageShared.ts";

export interface OpenOptions {
  readonly now?: () => number;
  readonly recordTypes?: readonly AnyRecordType[];
}

/** Opens an empty store and runs the test on it; the store is closed and gone afterwards. */
export type WithStorage = (test: (storage: Storage) => Promise<void>, options?: OpenOptions) => Promise<void>;

/** `modelRuns`: how many random histories the store is compared with the model on. */
export function storageSuite(name: string, withStorage: WithStorage, modelRuns = 60): void {
  describe(`storage: ${name}`, () => {
    recordTests(withStorage);
    indexTests(withStorage);
    logTests(withStorage);
    dueTests(withStorage);
    blobTests(withStorage);
    sharedTests(withStorage);
    propertyTests(withStorage, modelRuns);
  });
}
