/**
 * Tests the embedded store on a disk that fills up. The disk is a small tmpfs in a private namespace, which ends with
 * the process. This needs `unshare` and the right to mount (root, or user namespaces).
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildProgram } from "../support/childProgram.ts";
import type { Seen } from "./storageFullChild.ts";

const child = buildProgram(join(import.meta.dirname, "storageFullChild.ts"));
const toMount = (sizeMiB: number) => `mount -t tmpfs -o size=${sizeMiB}m tmpfs "$0" && exec "$@"`;

/** Returns the flags of `unshare` that give a private mount here. Throws if none does. */
function findNamespace(directory: string): string {
  const tried: string[] = [];
  for (const flags of ["-m", "-rm"]) {
    const { status, stderr, error } = spawnSync("unshare", [flags, "sh", "-c", toMount(1), directory, "true"], { encoding: "utf8" });
    if (status === 0) return flags;
    tried.push(`unshare ${flags}: ${error?.message ?? stderr.trim()}`);
  }
  throw new Error(
    `this test mounts a tmpfs and needs root with CAP_SYS_ADMIN, or user namespaces, and unshare of util-linux:\n${tried.join("\n")}`,
  );
}

async function run(sizeMiB: number, ...options: readonly string[]): Promise<Seen> {
  const directory = mkdtempSync(join(tmpdir(), "full-"));
  try {
    const command = [process.execPath, child, directory, ...options];
    const running = spawn("unshare", [findNamespace(directory), "sh", "-c", toMount(sizeMiB), directory, ...command]);
    let out = "";
    let errors = "";
    running.stdout.on("data", (bytes) => {
      out += bytes;
    });
    running.stderr.on("data", (bytes) => {
      errors += bytes;
    });
    const [code] = await once(running, "close");
    if (code !== 0) throw new Error(`the writer ended with ${code}\n${errors}`);
    return JSON.parse(out) as Seen;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe("the embedded store on a full disk", () => {
  test.each([
    ["a write finds no space", 16, "0", ""],
    ["less than the reserve is free", 16, "256", ""],
    ["a write finds no space, with a journal", 128, "0", "journal"],
  ])("[ST19] when %s, writes are refused, reads continue, and writes resume with space", async (_name, sizeMiB, reserveMiB, journal) => {
    const seen = await run(sizeMiB, reserveMiB, journal);
    expect(seen.lost).toEqual([]);
    expect(seen.diskErrors).toEqual([]);
    expect(seen.acknowledgedWhenFull).toBeGreaterThan(100);
    expect([seen.readsWhenFull, seen.readsAfterRestart]).toEqual([seen.acknowledgedWhenFull, seen.acknowledgedWhenFull]);
    expect(seen.refusals).toEqual(Array.from({ length: 21 }, () => "StorageFullError"));
    expect([seen.statusWhenFull, seen.statusAfter]).toEqual(["refused", "ok"]);
    expect(seen.acknowledged).toBeGreaterThan(seen.acknowledgedWhenFull + 100);
  });
});
