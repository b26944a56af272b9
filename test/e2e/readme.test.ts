/** The README's first minute, run as it is written. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transform } from "esbuild";
import { expect, test, vi } from "vitest";
import { createRest, signIn } from "../support/clients.ts";
import { findFreePorts } from "../support/redisServer.ts";
import { serverFile, startServer } from "../support/server.ts";

const root = join(import.meta.dirname, "../..");

/** The block of the README that stands behind this mark. */
function block(mark: string): string {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const after = readme.split(`<!-- ${mark} -->`)[1] ?? "";
  return /^\n```\w+\n([\s\S]*?)```/.exec(after)?.[1] ?? "";
}

test("[OP23] the commands of the README's first minute do what it says", async () => {
  const script = block("first-minute") + block("first-run");
  expect(script).toContain("http://127.0.0.1:8787");
  const server = await startServer({ SVC_ADMIN_USERNAME: "admin", SVC_ADMIN_PASSWORD: "correct horse battery" });
  try {
    const shell = spawn("sh", ["-eu"], { stdio: ["pipe", "pipe", "pipe"] });
    const printed = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      shell[stream].setEncoding("utf8").on("data", (text: string) => {
        printed[stream] += text;
      });
    }
    shell.stdin.end(script.replace("http://127.0.0.1:8787", server.url));
    const [code] = await once(shell, "close");
    expect({ code, ...printed }).toMatchObject({ code: 0, stderr: "" });
    const [revision, commitId, ...more] = printed.stdout.split("\n");
    expect(Number(revision)).toBe(2);
    expect(commitId).toMatch(/^cmt_/);
    const [page, told] = more.join("\n").split("approved\n");
    expect(page).toBe("# Hello\n\nWritten over REST.\n");
    const [outlined, drafted, draft] = told?.split("event: stream.end\ndata: {}\n\n") ?? [];
    for (const [stream, step] of [
      [outlined, "outline"],
      [drafted, "draft"],
    ]) {
      expect(stream).toContain(`"stepName":"${step}"`);
      expect(stream).toContain("event: agent.run_completed");
    }
    expect(draft).toMatch(/^# How a draft survives a power cut\n/);
  } finally {
    await server.remove();
  }
});

test("[OP23] the README's clients type and read as it is written, on this Node", async () => {
  const server = await startServer();
  try {
    const rest = await signIn(server.url, server.operator);
    const { workspaces } = await rest.expect(200, "GET", "/workspaces");
    const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId: workspaces[0].workspaceId, title: "Hello" });
    const token = rest.headers.authorization?.replace("Bearer ", "");
    const live = block("live").replace("ws://127.0.0.1:8787", server.url.replace("http", "ws"));
    const code = [
      `const [url, token, article] = ${JSON.stringify([server.url, token, articleId])};`,
      live,
      block("typed"),
      "console.log(title);",
    ].join("\n");
    const node = spawn(process.execPath, ["--input-type=module"], { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
    const printed = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      node[stream].setEncoding("utf8").on("data", (text: string) => {
        printed[stream] += text;
      });
    }
    try {
      node.stdin.end((await transform(code, { loader: "ts", target: "es2023" })).code);
      await vi.waitFor(() => expect(printed).toEqual({ stdout: "Hello\n", stderr: "" }), 20_000);
      const read = () => rest.expect(200, "GET", `/articles/${articleId}/content`);
      await vi.waitFor(async () => expect((await read()).content).toBe("Typed live. "), 20_000);
    } finally {
      node.kill();
    }
  } finally {
    await server.remove();
  }
});

test("[OP29] the README's two nodes on one Redis come up, and who writes at one is read at the other", async () => {
  const ports = (await findFreePorts(3)).map(String);
  const folder = mkdtempSync(join(tmpdir(), "nodes-"));
  const script = ["6379", "8787", "8788"].reduce((text, port, at) => text.replaceAll(port, ports[at] ?? ""), block("two-nodes"));
  const shell = spawn("sh", ["-eu"], {
    cwd: folder,
    detached: true,
    env: { ...process.env, SVC_ADMIN_USERNAME: "admin", SVC_ADMIN_PASSWORD: "correct horse battery" },
    stdio: ["pipe", "ignore", "ignore"],
  });
  try {
    shell.stdin.end(
      script
        .replace("npm run build\n", "")
        .replace("redis-server", `redis-server --port ${ports[0]} --dir ${folder}`)
        .replaceAll("dist/svc-server.js", serverFile)
        .concat("wait\n"),
    );
    const [one, two] = ports.slice(1).map((port) => `http://127.0.0.1:${port}`) as [string, string];
    for (const url of [one, two]) {
      await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), { timeout: 60_000, interval: 200 });
    }
    const rest = await signIn(one, { username: "admin", password: "correct horse battery" });
    const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Handbook", type: "team" });
    const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Hello", content: "# Hello\n" });
    const there = createRest(two).with(rest.headers);
    expect((await there.expect(200, "GET", `/articles/${articleId}/content`)).content).toBe("# Hello\n");
  } finally {
    const closed = once(shell, "close");
    process.kill(-(shell.pid as number), "SIGKILL");
    await closed;
    rmSync(folder, { recursive: true, force: true });
  }
});
