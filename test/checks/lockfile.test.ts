import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const text = readFileSync(join(import.meta.dirname, "../../package-lock.json"), "utf8");
const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockedPackage>> };

/** Paths where Node searches for a dependency of the package at this path, nearest first. */
function places(path: string, name: string): string[] {
  const folders = path.split("/node_modules/").map((_, at, parts) => parts.slice(0, at + 1).join("/node_modules/"));
  return [...folders.map((folder) => `${folder}/node_modules/${name}`).reverse(), `node_modules/${name}`];
}

test("[OP24] the lock file has the native packages of every platform, so npm ci works on each", () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !places(path, name).some((place) => packages[place]?.version !== undefined)),
  );
  expect(missing).toEqual([]);
});

test("[OP24] the lock file names no registry, and pins each installed package by its hash", () => {
  expect(text).not.toContain('"resolved"');
  const unpinned = Object.entries(packages).filter(
    ([path, { integrity, optional }]) => path !== "" && integrity === undefined && optional !== true,
  );
  expect(unpinned.map(([path]) => path)).toEqual([]);
});
