/** ProgramFolders lists the folders that the program of a child process is loaded from. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** Returns the folder of the program, and every `node_modules` above it, also under the names that links lead to. */
export function findProgramFolders(start: string): readonly string[] {
  const folders = [start, ...above(start).map((folder) => join(folder, "node_modules"))].filter((folder) => existsSync(folder));
  return [...new Set(folders.flatMap((folder) => [folder, realpathSync(folder)]))];
}

/** Returns the package files above the program. Node reads them to find out how to load a module. */
export function findPackageFiles(start: string): readonly string[] {
  return above(start)
    .map((folder) => join(folder, "package.json"))
    .filter((file) => existsSync(file));
}

function above(start: string): readonly string[] {
  const folders: string[] = [];
  for (let at = start; dirname(at) !== at; at = dirname(at)) folders.push(at);
  return folders;
}
