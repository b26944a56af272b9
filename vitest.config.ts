import { defineConfig } from "vitest/config";

/** Unit tests stand beside their source; the kinds that need processes, sockets or a browser stand under test/. */
export default defineConfig({
  test: {
    include: ["{api,machines,realtime,server,bench}/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
