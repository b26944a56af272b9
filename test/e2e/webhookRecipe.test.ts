/** Runs the recipe of docs/webhooks.md for a receiver on the server's own machine exactly as written. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { readDocumentBlock } from "../support/documentBlock.ts";
import { findFreePorts } from "../support/redisServer.ts";
import { serverFile } from "../support/server.ts";

const page = "docs/webhooks.md";

interface Shell {
  readonly process: ChildProcess;
  readonly printed: { stdout: string; stderr: string };
}

/**
 * Runs a script and its children in their own process group. Settings of the test runner, such as BASE_URL, are not
 * passed on.
 */
function startShell(script: string, cwd: string, env: NodeJS.ProcessEnv = {}): Shell {
  const shell = spawn("sh", ["-eu"], { cwd, detached: true, env: { PATH: process.env.PATH, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    shell[stream].setEncoding("utf8").on("data", (text: string) => {
      printed[stream] += text;
    });
  }
  shell.stdin.end(script);
  return { process: shell, printed };
}

async function endGroup({ process: shell }: Shell): Promise<void> {
  if (shell.exitCode !== null || shell.signalCode !== null || shell.pid === undefined) return;
  const exited = once(shell, "exit");
  process.kill(-shell.pid, "SIGKILL");
  await exited;
}

test("[WH16] a receiver with a self-signed certificate on the server's machine gets its first event", async () => {
  const folder = mkdtempSync(join(tmpdir(), "recipe-"));
  const [port, receiverPort] = (await findFreePorts(2)).map(String) as [string, string];
  const read = (mark: string) =>
    readDocumentBlock(page, mark).replaceAll("8787", port).replaceAll("8443", receiverPort).replaceAll("/tmp/webhook-trial", folder);
  const started: Shell[] = [];
  const start = (script: string, env?: NodeJS.ProcessEnv): Shell => {
    const shell = startShell(script, tmpdir(), env);
    started.push(shell);
    return shell;
  };
  try {
    writeFileSync(join(folder, "verify.mjs"), read("verify-node"));
    writeFileSync(join(folder, "receiver.mjs"), read("local-receiver"));
    const [certified] = await once(start(read("local-certificate")).process, "exit");
    expect(certified).toBe(0);

    const server = start(read("local-server").replace("npm start", `${process.execPath} ${serverFile} start`), { PORT: port });
    await vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200), {
      timeout: 60_000,
      interval: 200,
    });
    const { printed } = start(`${read("local-webhook")}wait\n`);
    await vi.waitFor(() => expect(printed.stdout).toMatch(/^\{"id":"evt_.*"event":"article\.updated"/m), {
      timeout: 60_000,
      interval: 200,
    });
    expect(printed.stdout).toMatch(/^cmt_\w+$/m);
    expect(printed).toMatchObject({ stdout: expect.not.stringContaining("refused"), stderr: "" });
    await vi.waitFor(() => expect(server.printed.stdout).toContain("webhook delivered"), { timeout: 20_000 });
  } finally {
    for (const shell of started) await endGroup(shell);
    rmSync(folder, { recursive: true, force: true });
  }
});
