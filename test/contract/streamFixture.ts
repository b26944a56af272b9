/**
 * Runs the whole service in this process, over a host and a store of the test. Requests and streams use real sockets.
 * The store can be made to fail, to trim its logs, and to stop answering.
 */
import { pino } from "pino";
import { vi } from "vitest";
import type { Limits } from "../../api/limits.ts";
import type { RunStatus } from "../../api/schema/run.ts";
import { composeService } from "../../server/compose.ts";
import { readConfig } from "../../server/config.ts";
import { encodeTimelineEntry, runLog, timelineLog } from "../../server/domain/runs/engine/timelineEntry.ts";
import { startNodeHost } from "../../server/edge/host/node.ts";
import type { StartHost } from "../../server/edge/host/port.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { createMetrics } from "../../server/platform/observability/metrics.ts";
import { deriveSecrets } from "../../server/platform/secrets.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createRest, type Rest, signIn } from "../support/clients.ts";

export const hosts: readonly [name: string, start: StartHost][] = [
  ["uWebSockets.js", startUwsHost],
  ["node:http", startNodeHost],
];

export const hangMs = 20_000;
const account = { username: "operator", password: "correct horse battery" };
const operatorToken = "operator-token-of-the-tests";
const unlimited = Object.fromEntries(
  ["rate.default", "rate.writes", "rate.management", "rate.auth", "rate.runs", "rate.connects"].map((field) => [field, "off"]),
);

export interface StreamServerOptions {
  readonly limits?: Partial<Limits>;
  /** Wraps the store before the service receives it. */
  readonly around?: (storage: Storage) => Storage;
}

export type StreamServer = Awaited<ReturnType<typeof startStreamServer>>;

export async function startStreamServer(start: StartHost, { limits = {}, around = (storage) => storage }: StreamServerOptions = {}) {
  const read = readConfig({
    SVC_ADMIN_USERNAME: account.username,
    SVC_ADMIN_PASSWORD: account.password,
    OPERATOR_TOKEN: operatorToken,
    LIMITS: JSON.stringify({ ...unlimited, ...limits }),
    DATA_DIR: "/nowhere",
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const logged: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void logged.push(line) });
  const stored = createMemoryStorage();
  const service = await composeService({
    config: read.config,
    baseUrl: "https://content.example",
    storage: around(stored),
    secrets: deriveSecrets([Buffer.alloc(32, 7)]),
    log,
    metrics: createMetrics(),
    version: "0.0.0",
    broadcast: { publish: (topic, frame) => host.publish(topic, frame) },
    isServing: () => true,
  });
  await service.start();
  const host = await start(service.app, {
    host: "127.0.0.1",
    port: 0,
    maxFrameBytes: 1024,
    maxBufferedBytes: 1024,
    onError: (error) => void logged.push(String(error)),
  });
  const url = `http://127.0.0.1:${host.port}`;
  const rest = await signIn(url, account);
  let drained: Promise<void> | undefined;
  const drain = () => (drained ??= service.drain(AbortSignal.abort()));

  return {
    url,
    port: host.port,
    /** Client of the operator, signed in. */
    rest,
    /** Client without a credential. */
    anyone: createRest(url),
    storage: stored,
    logged,
    drain,
    /** Number of open streams, from the metrics. */
    async openStreams(): Promise<number> {
      const text = await rest.expect<string>(200, "GET", "/metrics", undefined, { authorization: `Bearer ${operatorToken}` });
      return Number(/^svc_sockets\{kind="stream"\} (\d+)$/m.exec(text)?.[1]);
    },
    async newWorkspace(): Promise<string> {
      return (await rest.expect(201, "POST", "/workspaces", { name: "Newsroom", type: "team" })).workspaceId;
    },
    /** Starts a run with its own topic and waits until it waits or ends. */
    async newRun(workspaceId: string, workflowId = "outline", status: RunStatus = "paused_for_approval"): Promise<string> {
      const { topicId } = await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, {
        title: "Kites",
        targetAudience: "builders",
      });
      const { runId } = await rest.expect(202, "POST", `/workflows/${workflowId}/runs`, { workspaceId, topicId });
      await this.runIn(runId, status);
      return runId;
    },
    runIn: (runId: string, status: RunStatus) =>
      vi.waitFor(
        async () => {
          const run = await rest.expect(200, "GET", `/runs/${runId}`);
          if (run.status !== status) throw new Error(`the run is ${run.status}`);
          return run;
        },
        { timeout: hangMs },
      ),
    /** Adds events to a run's timeline. */
    async tell(workspaceId: string, runId: string, count: number, message = "said"): Promise<void> {
      const entry = encodeTimelineEntry({
        event: "agent.run_failed",
        createdAt: new Date().toISOString(),
        workspaceId,
        runId,
        workflowId: "outline",
        workflowVersion: "1",
        actor: account.username,
        data: { code: "said", message, retryable: false },
      });
      const entries = Array.from({ length: count }, () => entry);
      const logs = [{ op: "append", log: runLog(runId), twin: timelineLog(workspaceId), entries }] as const;
      const { ok } = await stored.commit({ partition: partitionOfId(workspaceId), logs });
      if (!ok) throw new Error("the commit was refused");
      for (const topic of [runLog(runId), timelineLog(workspaceId)]) stored.bus.publish(topic, new Uint8Array());
    },
    /** Trims the log of a run or a workspace up to this position. */
    async forget(log: string, through: number): Promise<void> {
      const partition = partitionOfId(log.slice(log.indexOf("/") + 1));
      await stored.commit({ partition, logs: [{ op: "trim", log, through }] });
    },
    async newKey(body: object = { scopes: ["workspaces:read"] }): Promise<{ readonly keyId: string; readonly as: Rest }> {
      const { key, keyId } = await rest.expect(201, "POST", "/api-keys", { name: "Reader", ...body });
      return { keyId, as: createRest(url, { "x-api-key": key }) };
    },
    /** Creates another account and signs it in. It becomes a member of the workspace, if given. */
    async newPerson(username: string, workspaceId?: string): Promise<Rest> {
      const { password } = account;
      await rest.expect(201, "POST", "/accounts", { username, password });
      if (workspaceId !== undefined) {
        await rest.expect(201, "POST", `/workspaces/${workspaceId}/members`, { username, role: "member" });
      }
      return signIn(url, { username, password });
    },
    async close(): Promise<void> {
      await drain();
      await host.close();
      await stored.close();
    },
  };
}
