/**
 * `npm run check:tools` finds the commands that the tests need in addition to Node and npm. It installs missing ones if it
 * can (Debian packages, as root) and otherwise reports them. No test is skipped because a command is missing.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const tools: readonly { readonly command: string; readonly debian: string; readonly why: string }[] = [
  { command: "unshare", debian: "util-linux", why: "a small disk for the tests of a full disk" },
  { command: "mount", debian: "mount", why: "the same" },
  { command: "ip", debian: "iproute2", why: "a separate network for the tests of outbound addresses" },
  { command: "prlimit", debian: "util-linux", why: "the test of a process without free file descriptors" },
  { command: "redis-server", debian: "redis-server", why: "the tests of the store on Redis, which start their own servers" },
  { command: "redis-cli", debian: "redis-tools", why: "the same" },
  { command: "curl", debian: "curl", why: "the commands of the README" },
  { command: "chromium", debian: "chromium", why: "the tests of public pages in a browser" },
];

function isOnPath(command: string): boolean {
  // Not every user has the system folders on PATH.
  return [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"].some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function install(packages: readonly string[]): void {
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [
    ["update", "-q"],
    ["install", "-qq", "--no-install-recommends", ...packages],
  ]) {
    spawnSync("apt-get", args, { stdio: "inherit", env: environment });
  }
}

const missing = () => tools.filter(({ command }) => !isOnPath(command));

const wanted = missing();
if (wanted.length > 0 && process.getuid?.() === 0 && isOnPath("apt-get")) {
  const packages = [...new Set(wanted.map(({ debian }) => debian))];
  console.log(`installing ${packages.join(", ")}`);
  install(packages);
}
const still = missing();
for (const { command, debian, why } of still) {
  console.error(`  ${command} is not on PATH: the tests need it: ${why}. On Debian: apt-get install ${debian} (as root)`);
}
if (still.length > 0) process.exitCode = 1;
else console.log(`${tools.map(({ command }) => command).join(", ")} found`);
