/** Packs the client, installs it in an empty folder, and runs the programs of docs/client.md exactly as written. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createExampleFolder, type ExampleFolder, namedPackages, readExample, root } from "../support/docExamples.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const page = "docs/client.md";
const read = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
const { name, dependencies, peerDependencies } = read("client/package.json");
const declared: Readonly<Record<string, string>> = { ...dependencies, ...peerDependencies };

let server: RunningServer;
let folder: ExampleFolder;

beforeAll(async () => {
  server = await startServer({ SVC_ADMIN_USERNAME: "admin", SVC_ADMIN_PASSWORD: "correct horse battery" });
  const tools = namedPackages(page).filter((text) => !text.endsWith(".tgz"));
  folder = createExampleFolder(server.url, [
    ...tools,
    ...Object.entries(declared).map(([dependency, version]) => `${dependency}@${version}`),
  ]);
  // As npm does it: the package is unpacked, so it finds only what the folder has.
  const installed = join(folder.path, "node_modules", name);
  mkdirSync(installed);
  const pack = readExample(page, "pack").replace("npm pack", "npm pack --silent");
  const built = await folder.run(`(cd ${root}\n${pack})\ntar -xzf "$HOME"/*.tgz -C ${installed} --strip-components=1\n`);
  expect(built, built.stderr).toMatchObject({ code: 0 });
  expect(readdirSync(installed).toSorted()).toEqual(["README.md", "dist", "package.json"]);
});
afterAll(async () => {
  folder?.remove();
  await server?.remove();
});

test("[CL40] the programs of docs/client.md compile with the default options of TypeScript", async () => {
  for (const program of ["calls.mts", "live.mts", "run.mts", "webSession.mts"]) folder.save(page, program);
  expect(await folder.run(readExample(page, "compile"))).toEqual({ code: 0, stdout: "", stderr: "" });
});

test.each([
  ["calls", ["Backups, Restores", "422 validation_failed /name"]],
  ["live", ["connecting 1", "saving 1", "saved 0", "Bob reads: Typed live.", "", "closed 0"]],
  ["run", ["agent.approval_resolved", "agent.run_completed"]],
])("[CL40] the program %s of docs/client.md prints what the page says, and ends", async (program, lines) => {
  expect(await folder.run(readExample(page, program))).toEqual({ code: 0, stdout: `${lines.join("\n")}\n`, stderr: "" });
});

test("[CL40] the package names the versions of this repository", () => {
  const own = read("package.json");
  const versions: Readonly<Record<string, string>> = { ...own.dependencies, ...own.devDependencies };
  expect(declared).toEqual(Object.fromEntries(Object.keys(declared).map((dependency) => [dependency, versions[dependency]])));
});
