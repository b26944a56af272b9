/**
 * Runs dependency-cruiser with the project's rules over the folders below a root and says what it saw.
 * Shared by the check itself and by the test that plants violations.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { cruise } from "dependency-cruiser";
import extractDepcruiseOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { findCircles } from "./folderCircles.ts";

export interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

export interface Cruise {
  readonly violations: readonly Violation[];
  /** Folders that import each other, directly or by way of others; type-only imports count. */
  readonly folderCircles: readonly (readonly string[])[];
  /** Modules of ours that were read: an empty run must not pass for a clean one. */
  readonly modules: number;
}

const folders = ["api", "machines", "realtime", "server", "test", "bench"];

const isTest = (path: string): boolean => /\.test\.ts$|^(test|bench)\//.test(path);

/** `root` must be the working directory: dependency-cruiser matches paths relative to it. */
export async function cruiseProject(root: string): Promise<Cruise> {
  const options = await extractDepcruiseOptions(join(root, ".dependency-cruiser.mjs"));
  const present = folders.filter((folder) => existsSync(join(root, folder)));
  const { output } = await cruise(present, options, undefined, { tsConfig: extractTSConfig(join(root, "tsconfig.json")) });
  if (typeof output === "string") throw new Error("dependency-cruiser answered with text instead of a result");
  const own = output.modules.filter((module) => folders.some((folder) => module.source.startsWith(`${folder}/`)));
  const arrows = own
    .filter(({ source }) => !isTest(source))
    .flatMap(({ source, dependencies }) => dependencies.map(({ resolved }) => [dirname(source), dirname(resolved)] as const))
    .filter(([, to]) => folders.some((folder) => to === folder || to.startsWith(`${folder}/`)));
  return {
    modules: own.length,
    folderCircles: findCircles(arrows),
    violations: output.summary.violations.map((found) => ({ rule: found.rule.name, from: found.from, to: found.to })),
  };
}
