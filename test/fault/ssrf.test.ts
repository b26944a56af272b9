/**
 * Tests the check of outbound addresses from outside: the built server runs in a network namespace where every address
 * leads to a listener of the test. Needs Linux, `unshare` and `ip`, as root or with user namespaces.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ipaddr from "ipaddr.js";
import { expect, test } from "vitest";
import { goodAddresses } from "./ssrfCases.ts";
import type { SsrfReport } from "./ssrfChild.ts";

const child = fileURLToPath(new URL("./ssrfChild.ts", import.meta.url));
/** `ip` is in sbin, which is not on the PATH of every user. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
const setUp =
  "ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo && mount --bind /etc/hosts /etc/hosts";

/** Finds the first way to create a namespace that works here. */
const namespace = [
  ["-n", "-m"],
  ["-U", "-r", "-n", "-m"],
].find((flags) => spawnSync("unshare", [...flags, "sh", "-c", setUp], { env, timeout: 10_000 }).status === 0);

const cannot = "needs Linux with IPv6, `unshare` (util-linux) and `ip` (iproute2), as root or with unprivileged user namespaces allowed";

test("[OB6] no name of a private address is accepted or dialled, and no good address is refused", async ({ skip }) => {
  if (namespace === undefined) {
    if (process.env.CI === "true") throw new Error(`this test ${cannot}`);
    skip(cannot);
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "ssrf-"));
  try {
    const args = [...namespace, process.execPath, "--import", "tsx", child, folder];
    const { stdout } = await promisify(execFile)("unshare", args, { env, maxBuffer: 2 ** 26, timeout: 110_000 });
    const report = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as SsrfReport;
    expect(report).toMatchObject({ badAccepted: [], goodRefused: [], oddRefusals: [], changedByRefusal: [], undelivered: [] });
    expect(report.badTried).toBeGreaterThanOrEqual(2 * 150);
    expect(report.goodTried).toBeGreaterThanOrEqual(2 * 30);
    expect(report.rebindingTried).toBeGreaterThanOrEqual(150);
    expect(report.refusedAtDelivery).toBeGreaterThanOrEqual(report.rebindingTried);
    const good = new Set(goodAddresses.map((address) => ipaddr.parse(address).toString()));
    expect(report.called.filter((address) => !good.has(address))).toEqual([]);
    expect(report.called.length).toBeGreaterThanOrEqual(20);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
