import { defineConfig } from "vitest/config";

/**
 * Unit tests stand beside their source; the kinds that need processes, sockets or a browser stand under test/.
 * The projects run one after the other, so that a test that kills servers does not starve one that types.
 */
const shared = {
  pool: "forks",
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // How long a condition may take to come true says nothing about it; this only ends what hangs.
  expect: { poll: { timeout: 30_000 } },
} as const;

export default defineConfig({
  test: {
    allowOnly: false,
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["{api,machines,realtime,server,bench}/**/*.test.ts", "test/{types,property,checks}/**/*.test.ts"],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...shared, name: "contract", include: ["test/contract/**/*.test.ts"], maxWorkers: 2, sequence: { groupOrder: 1 } } },
      {
        test: {
          ...shared,
          name: "whole",
          include: ["test/{e2e,fault,browser,demo}/**/*.test.ts"],
          globalSetup: ["test/support/build.ts"],
          testTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
