/**
 * Finds the tools that the tests need in addition to Node and npm. A missing tool is installed from Debian's packages
 * if the user is root; otherwise the check names it and fails. No test is skipped because of a missing tool.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const tools: readonly { readonly command: string; readonly debian: string; readonly why: string }[] = [
  { command: "unshare", debian: "util-linux", why: "a small disk of their own for the tests of a full one" },
  { command: "mount", debian: "mount", why: "the same" },
  { command: "ip", debian: "iproute2", why: "a network of their own for the tests of outbound addresses" },
  { command: "redis-server", debian: "redis-server", why: "the store on Redis, on servers of the tests' own" },
  { command: "redis-cli", debian: "redis-tools", why: "the same" },
  { command: "curl", debian: "curl", why: "the commands of the README" },
];

function isOnPath(command: string): boolean {
  // The system's tools are not on the PATH of every user.
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
  console.error(`  ${command} is not on PATH: the tests need it for ${why}. On Debian: apt-get install ${debian} (as root)`);
}
if (still.length > 0) process.exitCode = 1;
else console.log(`${tools.map(({ command }) => command).join(", ")} found`);
