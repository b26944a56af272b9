/** Tests how much memory of a real server request bodies can use, without a credential and with one. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
import { type RawConnection, rawConnection } from "../contract/rawHttp.ts";
import { createRest, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const MiB = 1024 * 1024;
const declaredBytes = 5 * MiB;
/** The end of the body is missing, so that no request is ever complete. */
const sentBytes = declaredBytes - 64 * 1024;
const connections = 300;

let server: RunningServer;
let operator: Rest;

beforeAll(async () => {
  server = await startServer({ LIMITS: JSON.stringify({ "rate.default": "off", "rate.writes": "off" }) });
  operator = await signIn(server.url, server.operator);
});

afterAll(() => server.remove());

async function bodyBytesInFlight(): Promise<number> {
  const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.operatorToken}` } });
  return Number(/^svc_body_bytes (\d+)$/m.exec(await answer.text())?.[1]);
}

/** Sends most of a body on many connections. Resolves with the statuses and the highest resident memory. */
async function flood(
  credential: Readonly<Record<string, string>>,
): Promise<{ statuses: Set<number>; highestMiB: number; open: RawConnection[] }> {
  const headers = Object.entries({
    host: "test",
    "content-type": "application/json",
    "content-length": String(declaredBytes),
    ...credential,
  });
  const head = `POST /articles HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  const body = Buffer.alloc(sentBytes, "x");
  const port = Number(new URL(server.url).port);
  const open: RawConnection[] = [];
  const statuses = new Set<number>();
  let highestMiB = 0;
  const sent: Promise<unknown>[] = [];
  for (let at = 0; at < connections; at += 1) {
    const client = await rawConnection(port);
    open.push(client);
    client.response().then(
      ({ status }) => statuses.add(status),
      () => undefined,
    );
    sent.push(
      new Promise<void>((resolve) => {
        client.socket.once("close", () => resolve());
        client.socket.write(head);
        client.socket.write(body, () => resolve());
      }),
    );
    if (at % 10 === 0) highestMiB = Math.max(highestMiB, server.residentMiB());
  }
  await Promise.all(sent);
  return { statuses, highestMiB: Math.max(highestMiB, server.residentMiB()), open };
}

test("[API31] 300 connections that send most of 5 MiB without a credential cost less than 300 MiB", async () => {
  const beforeMiB = server.residentMiB();
  const { statuses, highestMiB, open } = await flood({});
  expect([...statuses]).toEqual([401]);
  expect(highestMiB - beforeMiB).toBeLessThan(300);
  expect(await bodyBytesInFlight()).toBe(0);
  for (const client of open) client.destroy();
});

test("[API31] one credential has a limit of body bytes and gets 503 with Retry-After above it", async () => {
  const beforeMiB = server.residentMiB();
  const { statuses, highestMiB, open } = await flood(operator.headers);
  expect(await bodyBytesInFlight()).toBeGreaterThan(0);
  expect(await bodyBytesInFlight()).toBeLessThanOrEqual(defaultLimits["body.inFlightAccount"]);
  expect([...statuses]).toEqual([503]);
  expect(highestMiB - beforeMiB).toBeLessThan(300);
  for (const client of open) client.destroy();
  await expect.poll(bodyBytesInFlight).toBe(0);
  expect(await createRest(server.url).request("GET", "/healthz")).toMatchObject({ status: 200 });
});
