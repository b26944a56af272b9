/** Runs the commands and programs of the README exactly as written. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createRest, signIn } from "../support/clients.ts";
import { createExampleFolder, type ExampleFolder, namedPackages, readExample, root } from "../support/docExamples.ts";
import { findFreePorts } from "../support/redisServer.ts";
import { type RunningServer, serverFile, startServer } from "../support/server.ts";

const page = "README.md";
/** The account with which the README tells the reader to start. */
const admin = { username: "admin", password: "correct horse battery" };

let server: RunningServer | undefined;
let folder: ExampleFolder | undefined;

afterEach(async () => {
  folder?.remove();
  await server?.remove();
  server = undefined;
  folder = undefined;
});

/** Starts a server as in the README, and an empty folder with the packages that the README names. */
async function started() {
  server = await startServer({ SVC_ADMIN_USERNAME: admin.username, SVC_ADMIN_PASSWORD: admin.password });
  folder = createExampleFolder(server.url, namedPackages(page));
  return { server, folder };
}

test("[OP23] the commands of the README's first minute print what the page says", async () => {
  const { folder } = await started();
  const { code, stdout, stderr } = await folder.run(readExample(page, "first-minute") + readExample(page, "first-run"));
  expect({ code, stderr, stdout }).toMatchObject({ code: 0, stderr: "" });
  const [revision, commitId, ...more] = stdout.split("\n");
  expect(Number(revision)).toBe(2);
  expect(commitId).toMatch(/^cmt_/);
  const [publicPage, afterApproval] = more.join("\n").split("approved\n");
  expect(publicPage).toBe("# Hello\n\nWritten over REST.\n");
  const [outlined, drafted, draft] = afterApproval?.split("event: stream.end\ndata: {}\n\n") ?? [];
  for (const [stream, step] of [
    [outlined, "outline"],
    [drafted, "draft"],
  ]) {
    expect(stream).toContain(`"stepName":"${step}"`);
    expect(stream).toContain("event: agent.run_completed");
  }
  expect(draft).toMatch(/^# How a draft survives a power cut\n/);
});

test("[OP23] after the README's kill of the process that `ready` names, the whole text is there", async () => {
  const { server, folder } = await started();
  const [isWritten, isRestarted] = ["written", "restarted"].map((name) => join(folder.path, name)) as [string, string];
  const reading = folder.run(
    [
      readExample(page, "first-minute"),
      readExample(page, "before-kill"),
      `touch ${isWritten}\nuntil [ -e ${isRestarted} ]; do sleep 0.1; done\n`,
      readExample(page, "after-kill"),
    ].join(""),
  );
  await vi.waitFor(() => expect(existsSync(isWritten)).toBe(true), { timeout: 60_000, interval: 100 });
  expect(server.logLines.find(({ msg }) => msg === "ready")).toMatchObject({ pid: server.pid });
  process.kill(server.pid, "SIGKILL");
  await server.exited;
  await server.start();
  writeFileSync(isRestarted, "");
  const { code, stdout, stderr } = await reading;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/\n3\n# Hello\n\nWritten over REST\.\n\nWritten before the kill\.\n\n$/);
});

test("[OP23] the README starts the server with the account of its examples", () => {
  const command = /^SVC_ADMIN_USERNAME=(\S+) SVC_ADMIN_PASSWORD='([^']+)' npm start$/m.exec(readFileSync(join(root, page), "utf8"));
  expect(command?.slice(1)).toEqual([admin.username, admin.password]);
});

test("[OP40] the README's live program runs, shows the text to the second editor and ends", async () => {
  const { server, folder } = await started();
  const printed = { code: 0, stdout: "Bob sees: Typed live.\n\n", stderr: "" };
  folder.save(page, "live.mjs");
  expect(await folder.run("node live.mjs\n")).toEqual(printed);
  writeFileSync(join(folder.path, "live.mjs"), readExample(page, "live.mjs").replace("8787", "9"));
  expect(await folder.run(`SVC_BASE_URL=${server.url} node live.mjs\n`)).toEqual(printed);
});

test("[OP40] every page installs the package versions that this repository is tested with", () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const versions: Readonly<Record<string, string>> = { ...dependencies, ...devDependencies };
  const pages = [page, "docs/editor.md", "docs/client.md"];
  // The packed client is a file.
  const named = pages.flatMap((file) => namedPackages(file)).filter((text) => !text.endsWith(".tgz"));
  expect(named.length).toBeGreaterThan(8);
  const tested = named.map((text) => text.replace(/(?<=.)@[^@]*$/, "")).map((name) => `${name}@${versions[name]}`);
  expect(named).toEqual(tested);
});

test("[OP29] the README's two nodes start on one Redis, and a write at one is read at the other", async () => {
  const ports = (await findFreePorts(3)).map(String);
  const folder = mkdtempSync(join(tmpdir(), "nodes-"));
  const script = ["6379", "8787", "8788"].reduce(
    (text, port, at) => text.replaceAll(port, ports[at] ?? ""),
    readExample(page, "two-nodes"),
  );
  const shell = spawn("sh", ["-eu"], {
    cwd: folder,
    detached: true,
    env: { PATH: process.env.PATH, TMPDIR: folder },
    stdio: ["pipe", "ignore", "ignore"],
  });
  let isStopped = false;
  try {
    shell.stdin.write(
      script
        .replace("npm run build\n", "")
        .replace("redis-server", `redis-server --port ${ports[0]}`)
        .replaceAll("dist/svc-server.js", serverFile),
    );
    const [one, two] = ports.slice(1).map((port) => `http://127.0.0.1:${port}`) as [string, string];
    for (const url of [one, two]) {
      await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), { timeout: 60_000, interval: 200 });
    }
    const rest = await signIn(one, admin);
    const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Handbook", type: "team" });
    const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Hello", content: "# Hello\n" });
    const there = createRest(two).with(rest.headers);
    expect((await there.expect(200, "GET", `/articles/${articleId}/content`)).content).toBe("# Hello\n");

    const ended = once(shell, "exit");
    shell.stdin.end(readExample(page, "two-nodes-stop").concat("wait\n"));
    expect(await ended).toEqual([0, null]);
    for (const url of [one, two]) await expect(fetch(url)).rejects.toThrow("fetch failed");
    isStopped = true;
  } finally {
    if (!isStopped) {
      const closed = once(shell, "close");
      process.kill(-(shell.pid as number), "SIGKILL");
      await closed;
    }
    rmSync(folder, { recursive: true, force: true });
  }
});
