/**
 * Tests what every store must do. The suite runs on each adapter and uses only the port. The clock is an argument, so
 * leases and timers need no waiting.
 */
import { describe } from "vitest";
import { blobTests } from "./storageBlobs.ts";
import { dueTests } from "./storageDue.ts";
import { expiryTests } from "./storageExpiry.ts";
import { indexTests } from "./storageIndexes.ts";
import { leaseTests } from "./storageLeases.ts";
import { logTests } from "./storageLogs.ts";
import { propertyTests } from "./storageModel.ts";
import { recordTests } from "./storageRecords.ts";
import { sharedTests } from "./storageShared.ts";
import type { WithStorage } from "./storageTypes.ts";

/** `modelRuns`: number of random histories in which the store is compared with the model. */
export function storageSuite(name: string, withStorage: WithStorage, modelRuns = 60): void {
  describe(`storage: ${name}`, () => {
    recordTests(withStorage);
    indexTests(withStorage);
    logTests(withStorage);
    dueTests(withStorage);
    expiryTests(withStorage);
    leaseTests(withStorage);
    blobTests(withStorage);
    sharedTests(withStorage);
    propertyTests(withStorage, modelRuns);
  });
}
