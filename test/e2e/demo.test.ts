/** The demo as a newcomer runs it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { expect, it } from "vitest";

it("[OP27] `npm run demo` tells its whole story, ends by itself within a minute and leaves no process behind", async () => {
  const startedAt = Date.now();
  const child = spawn("npm", ["run", "demo"], { cwd: resolve(import.meta.dirname, "../.."), stdio: ["ignore", "pipe", "pipe"] });
  let told = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      told += text;
    });
  }
  // "close" comes when nobody holds the output any more: a server left behind would keep it open.
  const [code] = (await once(child, "close")) as [number | null];
  expect(code, told).toBe(0);
  expect(told).toContain("nothing lost");
  expect(told).toContain("Where to look next");
  expect(Date.now() - startedAt).toBeLessThan(60_000);
});
