/**
 * What every store must do, whatever it stands on: the suite runs on each adapter. It speaks to the port
 * alone; the clock is handed in, so that leases and timers need no waiting.
 */
import { describe } from "vitest";
import { blobTests } from "./storageBlobs.ts";
import { dueTests } from "./storageDue.ts";
import { indexTests } from "./storageIndexes.ts";
import { logTests } from "./storageLogs.ts";
import { propertyTests } from "./storageModel.ts";
import { recordTests } from "./storageRecords.ts";
import { sharedTests } from "./storageShared.ts";
import type { WithStorage } from "./storageTypes.ts";

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
