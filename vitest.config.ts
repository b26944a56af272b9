import { defineConfig } from "vitest/config";

/**
 * Unit tests stand beside their source; the kinds that need processes, sockets or a browser stand under test/.
 * The quick projects run first, then those with servers, and last those that must be alone.
 */
const shared = {
  pool: "forks",
  // No test promises a time. These limits only end a test or a condition that hangs.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
} as const;

/** Tests that replace a module. They need a process in which no other test has loaded it. */
const mocked = ["server/platform/storage/lmdb/journalFailure.test.ts", "test/contract/conflicts.test.ts"];

/** Tests that wait for limits of time, or start programs such as compilers, linters and a Cluster. Only the whole suite runs them. */
const slow = ["**/*.slow.test.ts"];

const notTests = ["**/node_modules/**"];

/** End-to-end tests that are not run a second time, on Redis. */
const notOnRedis = [
  // About the data directory itself: its lock, its file, its key, and what the commands find in it.
  "test/e2e/start.test.ts",
  // Start the Redis that they are about.
  "test/e2e/redis.test.ts",
  "test/e2e/cluster.test.ts",
  // Run the programs and commands of pages: they say nothing about a store. The README's two nodes on one Redis start
  // their own.
  "test/e2e/readme.test.ts",
  "test/e2e/docPages.test.ts",
  "test/e2e/webhookRecipe.test.ts",
  "test/e2e/editorPage.test.ts",
  // About the client package, whatever the store behind the server.
  "test/e2e/clientApi.test.ts",
  "test/e2e/clientArticle.test.ts",
  "test/e2e/clientPage.test.ts",
  "test/e2e/clientStreams.test.ts",
  // About the files of the web app, which are in no store.
  "test/e2e/webApp.test.ts",
  "test/e2e/webBuild.test.ts",
  // About addresses, bodies and the process, before any store is asked.
  "test/e2e/linkAddress.test.ts",
  "test/e2e/bodyMemory.test.ts",
  "test/e2e/process.test.ts",
  // About the model's endpoint, and about bodies that are refused before any store is asked.
  "test/e2e/modelFailures.test.ts",
  "test/e2e/hostile.test.ts",
  // Compares answers with the OpenAPI document, whatever the store.
  "test/e2e/validatingProxy.test.ts",
  // Sockets over a log in memory: there is no store behind them.
  "test/e2e/collab.test.ts",
  "test/e2e/collabAccess.test.ts",
  "test/e2e/collabCredentials.test.ts",
  "test/e2e/collabFloods.test.ts",
  "test/e2e/collabForeignEditors.test.ts",
  "test/e2e/collabLog.test.ts",
];

/**
 * Fault tests in which a node may lose its lease only through the fault that the test causes. They run alone, because
 * neighbours that take all processor time for seconds are a second fault.
 */
const alone = ["test/fault/rigClocks.test.ts", "test/fault/rigRuns.test.ts", "test/fault/rigWebhooks.test.ts"];

/**
 * The projects without servers share one queue. The files of a worker of `unit` and `contract` share its loaded modules,
 * because loading them again for each file took 0.8 s of processor time.
 */
const quick = {
  ...shared,
  exclude: [...mocked, ...slow, ...notTests],
  globalSetup: ["test/support/build.ts"],
  maxWorkers: 2,
  sequence: { groupOrder: 0 },
};

/** A whole server also serves the web app. The other projects do not pay for its build. */
const builds = ["test/support/build.ts", "test/support/buildWeb.ts"];

/**
 * The projects with servers share one queue too. Their files wait half of the time: for leases, retries and restarts.
 * Therefore there are twice as many workers as the two cores on which the suite is measured.
 */
const served = {
  ...shared,
  globalSetup: builds,
  testTimeout: 300_000,
  maxWorkers: 4,
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  test: {
    allowOnly: false,
    projects: [
      {
        test: {
          ...quick,
          name: "unit",
          include: ["{api,client,machines,realtime,server,web,bench}/**/*.test.ts", "test/{types,property,checks}/**/*.test.ts"],
          isolate: false,
        },
      },
      { test: { ...quick, name: "contract", include: ["test/contract/**/*.test.ts"], isolate: false } },
      { test: { ...quick, name: "mocked", include: mocked, exclude: notTests } },
      { test: { ...quick, name: "slow", include: slow, exclude: notTests } },
      {
        test: {
          ...served,
          name: "whole",
          include: ["test/{e2e,fault,browser,demo}/**/*.test.ts"],
          exclude: [...alone, ...notTests],
        },
      },
      {
        test: {
          ...served,
          name: "redis",
          include: ["test/e2e/**/*.test.ts"],
          exclude: notOnRedis,
          env: { TEST_STORE: "redis" },
        },
      },
      {
        test: {
          ...shared,
          name: "alone",
          include: alone,
          globalSetup: builds,
          testTimeout: 300_000,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
