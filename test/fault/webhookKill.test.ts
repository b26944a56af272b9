/**
 * Tests a real process that is killed repeatedly between commit and delivery: each commit reaches its webhook at least
 * once.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyOwn, verifyStandard } from "../contract/webhookVerify.ts";
import { buildProgram } from "../support/childProgram.ts";
import { toRounds } from "../support/faultRounds.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";

const child = buildProgram(fileURLToPath(new URL("./webhookChild.ts", import.meta.url)));
const count = 100;
const kills = toRounds(3);

let directory: string;
let receiver: Receiver;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "webhook-kill-"));
  // One fifth of the answers are failures, and some requests get no answer.
  receiver = await startReceiver({ answer: (_request, n) => (n % 50 === 0 ? "reset" : { status: n % 5 === 0 ? 500 : 204 }) });
});

afterAll(async () => {
  await receiver.close();
  await rm(directory, { recursive: true, force: true });
});

function start(): { process: ChildProcess; lines: AsyncIterable<string> } {
  const started = spawn(process.execPath, [child, directory, receiver.url, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_EXTRA_CA_CERTS: receiver.authority.file },
  });
  return { process: started, lines: createInterface({ input: started.stdout }) };
}

test("[WH8] after kill -9 between commit and delivery, every event arrives, with one id and body", async () => {
  let secret = "";
  for (let kill = 0; kill < kills; kill += 1) {
    const run = start();
    const ended = once(run.process, "exit");
    let left = 5 + kill * 7;
    for await (const line of run.lines) {
      const [word, value = ""] = line.split(" ");
      if (word === "secret") secret = value;
      if (word === "committed") left -= 1;
      if (left === 0) run.process.kill("SIGKILL");
    }
    await ended;
    expect(run.process.signalCode).toBe("SIGKILL");
  }
  const last = start();
  const ended = once(last.process, "exit");
  const deliveries = new Map<string, string>();
  let committed = 0;
  for await (const line of last.lines) {
    const [word, value = "", state = ""] = line.split(" ");
    if (word === "delivery") deliveries.set(value, state);
    if (word === "committed-in-all") committed = Number(value);
  }
  await ended;
  expect(last.process.exitCode).toBe(0);

  expect(committed).toBe(count);
  expect(deliveries.size).toBe(count);
  expect([...new Set(deliveries.values())]).toEqual(["delivered"]);
  const bodies = new Map<string, Set<string>>();
  for (const request of receiver.received) {
    expect([verifyOwn(request, secret), verifyStandard(request, secret)]).toEqual([true, true]);
    const id = request.headers["x-svc-delivery"] ?? "";
    bodies.set(id, (bodies.get(id) ?? new Set()).add(request.body.toString()));
  }
  expect([...bodies.keys()].sort()).toEqual([...deliveries.keys()].sort());
  for (const same of bodies.values()) expect(same.size).toBe(1);
  expect(new Set([...bodies.values()].map(([body]) => JSON.parse(body ?? "").id)).size).toBe(count);
});

test("[WH2] the bytes on the disk contain no webhook secret", async () => {
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );
  const kept = texts.join("\n");
  expect(kept).toContain("x-svc-signature");
  expect(kept).not.toContain("whsec_");
});
