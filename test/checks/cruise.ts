/**
 * Runs dependency-cruiser with the rules of the project over the folders below a root, and returns what it found.
 * The check and the test that plants violations share it.
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
  /** Folders that import each other, directly or through other folders. Type-only imports count. */
  readonly folderCircles: readonly (readonly string[])[];
  /** Number of modules of the repository that were read. A run that read nothing must not pass. */
  readonly modules: number;
}

const folders = ["api", "client", "machines", "realtime", "server", "web", "test", "bench"];

const isTest = (path: string): boolean => /\.test\.tsx?$|^(test|bench)\//.test(path);

/** `root` must be the working directory, because dependency-cruiser matches paths relative to it. */
export async function cruiseProject(root: string): Promise<Cruise> {
  const options = await extractDepcruiseOptions(join(root, ".dependency-cruiser.mjs"));
  const present = folders.filter((folder) => existsSync(join(root, folder)));
  const { output } = await cruise(present, options, undefined, { tsConfig: extractTSConfig(join(root, "tsconfig.json")) });
  if (typeof output === "string") throw new Error("dependency-cruiser returned text instead of a result");
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
