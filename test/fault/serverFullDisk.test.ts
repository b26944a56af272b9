/**
 * Tests a whole server on a disk that fills up. Its data directory is a small tmpfs in a private namespace, which ends
 * with the process. The test removes a ballast file from outside to free space again.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { createRest, signIn } from "../support/clients.ts";
import { startServer } from "../support/server.ts";

const mount = 'mount -t tmpfs -o size=24m,mode=0700 tmpfs "$0" && head -c 8388608 /dev/zero > "$0/ballast" && exec "$@"';

/** Returns the command line that runs a server on a private mount, as root or in a user namespace. */
function onSmallDisk(dataDir: string): readonly string[] {
  const flags = ["-m", "-rm"].find((tried) => spawnSync("unshare", [tried, "sh", "-c", mount, dataDir, "true"]).status === 0);
  if (flags === undefined) throw new Error("this test mounts a tmpfs: it needs root with CAP_SYS_ADMIN, or user namespaces, and unshare");
  return ["unshare", flags, "sh", "-c", mount, dataDir];
}

test("[OP15] on a full disk writes are 507, reads continue, readyz says so, and space ends it", async () => {
  const server = await startServer({ DISK_RESERVE_MIB: "0" }, { within: onSmallDisk });
  try {
    const { pid } = server;
    const rest = await signIn(server.url, server.operator);
    const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Small", type: "team" });
    const acknowledged: string[] = [];
    const write = (n: number) => {
      const title = `Article ${n}`;
      return rest.request("POST", "/articles", { workspaceId, title, content: `${title}\n${`${n} `.repeat(50_000)}` });
    };

    let refused = await write(0);
    for (let n = 1; refused.status === 201; n += 1) {
      acknowledged.push(refused.body.articleId);
      refused = await write(n);
    }
    expect([refused.status, refused.body.code]).toEqual([507, "disk_full"]);
    expect(acknowledged.length).toBeGreaterThan(10);
    expect(await createRest(server.url).expect(503, "GET", "/readyz")).toMatchObject({ status: "not_ready", writes: "refused" });
    expect((await rest.request("PATCH", `/articles/${acknowledged[0]}`, { title: "No" })).status).toBe(507);
    for (const articleId of acknowledged) await rest.expect(200, "GET", `/articles/${articleId}/content`);

    rmSync(`/proc/${pid}/root${server.dataDir}/ballast`);
    await expect.poll(async () => (await rest.request("GET", "/readyz")).status, { timeout: 15_000 }).toBe(200);
    const again = await write(9999);
    expect(again.status).toBe(201);
    for (const articleId of [...acknowledged, again.body.articleId]) await rest.expect(200, "GET", `/articles/${articleId}/content`);
    expect(server.pid).toBe(pid);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  } finally {
    await server.remove();
  }
});
