/** Tests the process when an error belongs to no request, and when no native binary fits the platform. */
import { expect, test } from "vitest";
import { openEditor, signIn } from "../support/clients.ts";
import { type Settings, startServer } from "../support/server.ts";

/** Runs a module in the server's process before the server itself. */
function preload(source: string): Settings {
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(source)}` };
}

test("[OP25] an unhandled rejection ends the process with 70, after logging the reason", async () => {
  const server = await startServer(preload("process.on('SIGUSR2', () => { Promise.reject(new Error('planted rejection')); });"));
  try {
    process.kill(server.pid, "SIGUSR2");
    expect(await server.exited).toEqual({ code: 70, signal: null });
    expect(server.stderr).toContain("planted rejection");
    expect(server.logLines.at(-1)).toMatchObject({ level: "fatal", exitCode: 70, err: { message: "planted rejection" } });
  } finally {
    await server.remove();
  }
});

test("[OP25] the rejection that LMDB leaves behind after a refused write does not end it", async () => {
  const stack = "Error: Commit failed\\n    at rejectCommit (file:///app/node_modules/lmdb/write.js:612:17)";
  const server = await startServer(
    preload(
      `process.on('SIGUSR2', () => { Promise.reject(Object.assign(new Error('Commit failed'), { stack: ${JSON.stringify(stack).replaceAll("\\\\n", "\\n")} })); });`,
    ),
  );
  try {
    process.kill(server.pid, "SIGUSR2");
    await expect.poll(() => server.logLines.some((line) => line.msg === "write to the store failed")).toBe(true);
    await signIn(server.url, server.operator);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  } finally {
    await server.remove();
  }
});

test("[OP26] without a uWebSockets.js binary, the server says so and serves the same on node:http", async () => {
  const hook = `export async function resolve(name, context, next) { if (name === "uWebSockets.js") throw new Error("no binary here"); return next(name, context); }`;
  const server = await startServer(
    preload(`import { register } from "node:module"; register("data:text/javascript," + ${JSON.stringify(encodeURIComponent(hook))});`),
  );
  try {
    const warning = server.logLines.find((line) => line.level === "warn");
    expect(warning?.msg).toContain(`no binary for Node ${process.versions.node}`);
    const rest = await signIn(server.url, server.operator);
    const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Slow", type: "team" });
    const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Slow" });
    const [writer, reader] = await Promise.all([openEditor(rest, articleId), openEditor(rest, articleId)]);
    writer.text.insert(0, "The same.");
    await reader.until((text) => text === "The same.");
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    writer.close();
    reader.close();
  } finally {
    await server.remove();
  }
});
