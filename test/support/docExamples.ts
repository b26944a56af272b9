/**
 * DocExamples runs the examples of README.md and docs/*.md exactly as written, in an empty folder.
 *
 * An example is the code block after the comment `<!-- name -->`. The folder contains only the packages that the page
 * tells the reader to install (linked, not downloaded), so an import of a package that the page does not name fails.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** The address that every page uses. Tests replace it with the address of their server. */
const writtenUrl = "http://127.0.0.1:8787";

/** @throws Error if the page has no such code block. */
export function readExample(page: string, name: string): string {
  const after = readFileSync(join(root, page), "utf8").split(`<!-- ${name} -->`)[1] ?? "";
  const code = /^\n```\w+\n([\s\S]*?)```/.exec(after)?.[1];
  if (code === undefined) throw new Error(`${page} has no code block behind <!-- ${name} -->`);
  return code;
}

/** Returns every `name@version` that the page tells the reader to install. */
export function namedPackages(page: string): readonly string[] {
  const commands = [...readFileSync(join(root, page), "utf8").matchAll(/^npm install (.+)$/gm)];
  return commands.flatMap((match) => (match[1] ?? "").split(" "));
}

export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ExampleFolder {
  readonly path: string;
  /** Saves an example to the file with its name. */
  save(page: string, name: string): string;
  /** Runs commands with `sh -eu`. */
  run(commands: string): Promise<Output>;
  remove(): void;
}

/** Adds a package in the form of `npm install`: its folder, and its commands in `.bin`. */
function linkPackage(folder: string, name: string): void {
  const installed = join(root, "node_modules", name);
  const { bin = {} } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as { bin?: string | Record<string, string> };
  const commands = typeof bin === "string" ? [[name, bin] as const] : Object.entries(bin);
  const links = [[name, installed] as const, ...commands.map(([command, file]) => [`.bin/${command}`, join(installed, file)] as const)];
  for (const [link, target] of links) {
    const path = join(folder, "node_modules", link);
    mkdirSync(dirname(path), { recursive: true });
    // Two packages can have the same command. The later one wins.
    rmSync(path, { force: true });
    symlinkSync(target, path);
  }
}

/** `packages` are `name@version`; `url` replaces the address that the pages use. */
export function createExampleFolder(url: string, packages: readonly string[] = []): ExampleFolder {
  const path = mkdtempSync(join(tmpdir(), "svc-example-"));
  for (const text of packages) linkPackage(path, text.replace(/(?<=.)@[^@]*$/, ""));
  return {
    path,
    save(page, name) {
      const file = join(path, name);
      writeFileSync(file, readExample(page, name).replaceAll(writtenUrl, url));
      return file;
    },
    async run(commands) {
      // Offline, so that npx runs a command of the folder or fails.
      const env = { PATH: process.env.PATH, HOME: path, npm_config_offline: "true", npm_config_update_notifier: "false" };
      const shell = spawn("sh", ["-eu"], { cwd: path, env, stdio: ["pipe", "pipe", "pipe"] });
      const printed = { stdout: "", stderr: "" };
      for (const stream of ["stdout", "stderr"] as const) {
        shell[stream].setEncoding("utf8").on("data", (text: string) => {
          printed[stream] += text;
        });
      }
      shell.stdin.end(commands.replaceAll(writtenUrl, url));
      const [code] = (await once(shell, "close")) as [number | null];
      return { code, ...printed };
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
