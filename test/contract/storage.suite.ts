/**
 * Tests what every store must do. The suite runs on each adapter and uses only the port. The clock is an argument, so
 * leases and timers need no waiting.
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

/** Opens an empty store and runs the test on it. The store is closed and removed afterwards. */
export type WithStorage = (test: (storage: Storage) => Promise<void>, options?: OpenOptions) => Promise<void>;

/** `modelRuns`: number of random histories in which the store is compared with the model. */
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
