/** The README's first minute, run as it is written. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startServer } from "../support/server.ts";

test("[OP23] the commands of the README's first minute do what it says", async () => {
  const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
  const script = /<!-- first-minute -->\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
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
    const [revision, commitId, ...page] = printed.stdout.split("\n");
    expect(Number(revision)).toBe(2);
    expect(commitId).toMatch(/^cmt_/);
    expect(page.join("\n")).toBe("# Hello\n\nWritten over REST.\n");
  } finally {
    await server.remove();
  }
});
