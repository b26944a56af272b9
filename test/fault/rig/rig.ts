/**
 * The base of every fault test: one node on the embedded store (mode E), two nodes on one Redis (mode R), each with its
 * own link that can fail, or two nodes on Redis under a Sentinel (mode S). It also has a receiver of webhooks, a model
 * endpoint, and a client that repeats its requests. It causes faults and does not know what must hold afterwards.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createRest, type Rest, signIn } from "../../support/clients.ts";
import { type FaultProxy, startFaultProxy } from "../../support/faultProxy.ts";
import { type ModelEndpoint, startModelEndpoint } from "../../support/modelEndpoint.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type RedisProcess, startRedis } from "../../support/redisServer.ts";
import { type Settings, startServer } from "../../support/server.ts";
import { secretKey } from "../../support/stores.ts";
import { createRigNode, type RigNode } from "./node.ts";
import { type Replicas, startReplicas } from "./replicas.ts";
import { createWallClock } from "./wallClock.ts";

/** E: embedded store, one node. R: Redis, two nodes. S: Redis that fails over to a replica, two nodes. */
export type RigMode = "E" | "R" | "S";

export interface RigOptions {
  readonly mode: RigMode;
  /** Settings that override those of every rig: no limits, a lease of one second, an outbound range on this machine. */
  readonly settings?: Settings;
  /** Each node has a wall clock that can be set wrong. */
  readonly ownClocks?: boolean;
  /** Answers of the receiver; 204 by default. */
  readonly answer?: NonNullable<Parameters<typeof startReceiver>[0]>["answer"];
}

export interface Rig {
  readonly mode: RigMode;
  readonly nodes: readonly RigNode[];
  /** Set in mode R. */
  readonly redis: RedisProcess | undefined;
  /** Set in mode S. */
  readonly replicas: Replicas | undefined;
  readonly receiver: Receiver;
  /** Endpoint of the steps if the settings have a `MODEL_NAME`. Paths of its requests begin with `/<node>/`. */
  readonly model: ModelEndpoint;
  readonly workspaceId: string;
  /** An API key of the operator with full access. */
  readonly key: string;
  /** Returns a client of the operator at a node, with the key. */
  rest(node: number): Rest;
  /** Asks one node after the other until one gives a final answer. Throws at a refusal. */
  insist<Body = AnyBody>(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<Body>;
  /** The same for an answer that is read as text. */
  insistText(path: string, accept?: string): Promise<string>;
  readonly maxRssMiB: number;
  /** Number of kills of nodes so far. */
  readonly kills: number;
  /** Errors in the logs of all processes of all nodes. */
  errors(): readonly string[];
  remove(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: a test names the type of the body it expects, or reads it without a type
type AnyBody = any;

/** Codes of a node that does not know the result. The repeat finds it out. */
const retried = new Set(["idempotency_in_progress", "unavailable"]);
const betweenTriesMs = 25;
/** A paused node does not answer and does not close the connection. */
const answerMs = 3000;
const patienceMs = 60_000;

export async function startRig({ mode, settings = {}, ownClocks = false, answer }: RigOptions): Promise<Rig> {
  const ends: (() => Promise<unknown> | unknown)[] = [];
  const remove = async () => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  };
  try {
    const receiver = await startReceiver(answer === undefined ? {} : { answer });
    ends.push(() => receiver.close());
    const model = await startModelEndpoint();
    ends.push(() => model.close());
    const redis = mode === "R" ? await startRedis() : undefined;
    if (redis !== undefined) ends.push(() => redis.remove());
    const replicas = mode === "S" ? await startReplicas() : undefined;
    if (replicas !== undefined) ends.push(() => replicas.remove());

    function toStore(link: FaultProxy | undefined): Settings {
      if (replicas !== undefined) return { REDIS_URL: replicas.url, REDIS_WAIT_REPLICAS: "1", SVC_SECRET_KEY: secretKey };
      return link === undefined ? {} : { REDIS_URL: `redis://127.0.0.1:${link.port}`, SVC_SECRET_KEY: secretKey };
    }

    async function startNode(at: number): Promise<RigNode> {
      const link = redis === undefined ? undefined : await startFaultProxy({ host: "127.0.0.1", port: redis.port });
      if (link !== undefined) ends.push(() => link.close());
      const wall = ownClocks ? createWallClock() : undefined;
      if (wall !== undefined) ends.push(() => wall.remove());
      const server = await startServer({
        LIMITS: "off",
        LEASE_MS: "1000",
        OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8",
        NODE_EXTRA_CA_CERTS: receiver.authority.file,
        ...toStore(link),
        ...wall?.settings,
        ...settings,
        ...(settings.MODEL_NAME === undefined ? {} : { MODEL_BASE_URL: `${new URL(model.baseUrl).origin}/${at}/v1` }),
      });
      ends.push(() => server.remove());
      return createRigNode(server, link, wall);
    }

    // Start the nodes one after the other, because the first one creates the first account.
    const nodes = [await startNode(0)];
    if (mode !== "E") nodes.push(await startNode(1));
    const [first] = nodes as [RigNode];
    const operator = await signIn(first.url, first.server.operator);
    const { workspaceId } = (await operator.expect(200, "GET", "/workspaces")).workspaces[0];
    const { key } = await operator.expect(201, "POST", "/api-keys", { name: "Rig" });
    const headers = { "x-api-key": key };
    let turn = 0;

    async function askUntilAnswered(method: string, path: string, own: Readonly<Record<string, string>>, body?: unknown): Promise<string> {
      const endMs = Date.now() + patienceMs;
      for (;;) {
        const { url } = nodes[turn++ % nodes.length] ?? first;
        const answered = await fetch(url + path, {
          method,
          headers: { ...headers, ...own, ...(body === undefined ? {} : { "content-type": "application/json" }) },
          signal: AbortSignal.timeout(answerMs),
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
          .then(async (reply) => ({ status: reply.status, text: await reply.text() }))
          .catch(() => undefined);
        if (answered !== undefined && answered.status < 400) return answered.text;
        if (answered !== undefined && !retried.has(JSON.parse(answered.text).code)) {
          throw new Error(`${method} ${path} answered ${answered.status}: ${answered.text}`);
        }
        if (Date.now() > endMs) throw new Error(`${method} ${path}: no answer within ${patienceMs / 1000} s`);
        await pause(betweenTriesMs);
      }
    }

    return {
      mode,
      nodes,
      redis,
      replicas,
      receiver,
      model,
      workspaceId,
      key,
      rest: (node) => createRest((nodes[node % nodes.length] ?? first).url, headers),
      async insist(method, path, body, idempotencyKey) {
        const own = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
        const text = await askUntilAnswered(method, path, own, body);
        return text === "" ? undefined : JSON.parse(text);
      },
      insistText: (path, accept = "application/octet-stream") => askUntilAnswered("GET", path, { accept }),
      get maxRssMiB() {
        return Math.max(...nodes.map((node) => node.maxRssMiB));
      },
      get kills() {
        return nodes.reduce((sum, node) => sum + node.kills, 0);
      },
      errors: () =>
        nodes.flatMap(({ server }) => server.logLines.filter(({ level }) => level === "error").map((line) => JSON.stringify(line))),
      remove,
    };
  } catch (reason) {
    await remove();
    throw reason;
  }
}
