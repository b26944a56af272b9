/** Tests the address in links when BASE_URL is not set: it must work for other machines on the same network. */
import { networkInterfaces } from "node:os";
import { afterEach, expect, test } from "vitest";
import { rawConnection } from "../contract/rawHttp.ts";
import { createRest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const servers: RunningServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.remove();
});

async function started(settings: Readonly<Record<string, string>>): Promise<RunningServer> {
  const server = await startServer(settings);
  servers.push(server);
  return server;
}

/** All addresses of this machine, as written in URLs. */
const ownAddresses = Object.values(networkInterfaces()).flatMap((found = []) =>
  found.map(({ address }) => (address.includes(":") ? `[${address}]` : address)),
);

test("[OP34] when listening on all, log and setup link name an address that others can open", async () => {
  const server = await started({ HOST: "0.0.0.0", SVC_ADMIN_USERNAME: "", SVC_ADMIN_PASSWORD: "" });
  await expect.poll(() => server.stderr).toMatch(/http:\S+\/setup#\S+\n/);
  const link = new URL(/http:\S+\/setup#\S+/.exec(server.stderr)?.[0] ?? "");
  expect(ownAddresses).toContain(link.hostname);
  expect((await fetch(link)).status).toBe(200);
  const ready = server.logLines.find(({ msg }) => msg === "ready");
  expect(ready).toMatchObject({ baseUrl: link.origin, listening: `http://0.0.0.0:${link.port}` });
  const warnings = server.logLines.filter(({ msg }) => msg?.includes("this machine has no private address"));
  expect(warnings.length).toBe(link.hostname === "127.0.0.1" ? 1 : 0);
});

test("[OP34] when listening on all, links in answers name that address for any Host header", async () => {
  const server = await started({ HOST: "0.0.0.0" });
  const baseUrl = String(server.logLines.find(({ msg }) => msg === "ready")?.baseUrl);
  expect(ownAddresses).toContain(new URL(baseUrl).hostname);
  const rest = await signIn(server.url, server.operator);
  const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "W", type: "team" });
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "T", content: "# T\n" });
  const { url } = await rest.expect(201, "PUT", `/articles/${articleId}/public-link`, {});
  expect(url).toMatch(/\/p\/t$/);
  expect(new URL(url).origin).toBe(baseUrl);
  expect((await fetch(url)).status).toBe(200);

  const client = await rawConnection(Number(new URL(baseUrl).port));
  client.write("GET /nothing HTTP/1.1\r\nhost: evil.example\r\n\r\n");
  expect(JSON.parse((await client.response()).body.toString())).toMatchObject({ type: `${baseUrl}/problems/not_found` });
  client.destroy();
});

test("[OP35] plain http on a network address is a warning in the log and a deviation in readyz", async () => {
  for (const [name, settings] of [
    ["BASE_URL", { BASE_URL: "http://192.168.1.5:8787" }],
    ["HOST", { HOST: "0.0.0.0" }],
  ] as const) {
    const server = await started(settings);
    expect(await createRest(server.url).expect(200, "GET", "/readyz")).toMatchObject({ deviations: [{ name }] });
    const warnings = server.logLines.filter(({ level }) => level === "warn").map(({ msg = "" }) => msg);
    // This test does not depend on whether the machine has a private address.
    expect(warnings.filter((text) => !text.includes("has no private address"))).toEqual([
      expect.stringContaining("passwords and keys cross the network unencrypted"),
    ]);
  }
});
