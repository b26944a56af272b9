/**
 * Creates runs as a server has them: topics, articles, rooms and runs are wired as in the product, and the operations
 * run over a real host. Only two parts are replaced: the caller (the bearer token is a username) and the steps, which a
 * test scripts.
 */
import { pino } from "pino";
import { runs as runContract } from "../../api/contract/runs.ts";
import { topics as topicContract } from "../../api/contract/topics.ts";
import { workflows as workflowContract } from "../../api/contract/workflows.ts";
import { defaultLimits, type Limits } from "../../api/limits.ts";
import { AppError } from "../../api/schema/error.ts";
import type { Scope } from "../../api/scopes.ts";
import type { Principal } from "../../server/domain/call/call.ts";
import { createPageTokens } from "../../server/domain/call/pageToken.ts";
import { createPager } from "../../server/domain/call/paging.ts";
import { createAccessResolver } from "../../server/domain/identity/workspaces/access.ts";
import { type WorkspaceRecord, workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import type { Executors, StepContext, StepResult } from "../../server/domain/runs/executors/port.ts";
import { runRecord } from "../../server/domain/runs/model/records.ts";
import { createRunService } from "../../server/domain/runs/service.ts";
import { createTopicService } from "../../server/domain/topics/service.ts";
import { createApp } from "../../server/edge/app.ts";
import { createRunHandlers } from "../../server/edge/handlers/runs.ts";
import { createTopicHandlers } from "../../server/edge/handlers/topics.ts";
import { createWorkflowHandlers } from "../../server/edge/handlers/workflows.ts";
import { startNodeHost } from "../../server/edge/host/node.ts";
import { createTimelineReader } from "../../server/edge/streams/timelineReader.ts";
import { after } from "../../server/platform/actors/after.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { baseUrl, createArticleNode } from "./articleFixture.ts";

export const workspaceId = "ws_01KAHX0000050123456789ABCD";
export const otherWorkspaceId = "ws_01KAHX0000070123456789ABCD";
const accounts = { ana: "owner", ben: "member", dan: undefined } as const;
export type Username = keyof typeof accounts;
const accountIdOf = (username: string) => `usr_01KAHX0000030123456789AB${username.slice(0, 2).toUpperCase()}`;

export const noUsage = { inputTokens: 0, outputTokens: 0, usd: 0, toolCalls: 0 };

/** Returns executors that write and answer at once. The texts of `outline` and `draft` contain the attempt. */
export function toExecutors(own: Executors = {}): Executors {
  const write =
    (name: "research" | "outline" | "draft") =>
    async ({ step, write: show }: StepContext): Promise<StepResult> => {
      const text = `# ${name} ${step.attempt}${step.feedback.map((said) => `, ${said}`).join("")}\n`;
      await show(text);
      return { kind: "completed", text, artifacts: [{ kind: name, contentType: "text/markdown", text }], usage: noUsage };
    };
  const done = async (): Promise<StepResult> => ({ kind: "completed", artifacts: [], usage: noUsage });
  return {
    research: write("research"),
    thesis: done,
    outline: write("outline"),
    draft: write("draft"),
    review: done,
    seo_review: done,
    article_validation: done,
    ...own,
  };
}

export interface RunRigOptions {
  readonly storage: Storage;
  readonly executors?: Executors;
  readonly limits?: Partial<Limits>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  readonly body: any;
}

export type RunRig = Awaited<ReturnType<typeof createRunRig>>;

export async function createRunRig({ storage, executors = {}, limits: own = {} }: RunRigOptions) {
  const limits: Limits = { ...defaultLimits, "rate.runs": "off", ...own };
  const logged: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void logged.push(line) });
  const leaseMs = 2000;
  const pageKey = Buffer.alloc(32, 7);
  const pager = createPager({ storage, pageKey, limits });
  const node = createArticleNode(
    storage,
    { now: storage.now, after },
    {
      leaseMs,
      limits: own,
      listeners: {
        articleCommitted: (unit, event) => topicService.articleCommitted(unit, event),
        articleDeleted: (unit, article) => runService.runs.articleDeleted(unit, article),
        articleRemoved: (unit, event) => topicService.articleRemoved(unit, event),
      },
    },
  );
  const { actors, pump, ids, rooms } = node;
  const topicService = createTopicService({ storage, actors, articles: node.writer, pager, limits });
  const runService = createRunService({
    storage,
    actors,
    topics: topicService.port,
    folders: topicService.folders,
    articles: node.writer,
    edits: node.edits,
    rooms,
    writing: node.writing,
    documents: node.documents,
    executors: toExecutors(executors),
    timeline: createTimelineReader({ storage }),
    pager,
    pageTokens: createPageTokens(pageKey),
    ids,
    limits,
    log,
  });
  actors.register([...topicService.actorKinds, ...runService.actorKinds]);

  const members = Object.entries(accounts).flatMap(([username, role]) =>
    role === undefined ? [] : [{ accountId: accountIdOf(username), username, role }],
  );
  for (const id of [workspaceId, otherWorkspaceId]) {
    if ((await storage.records.get(workspaceRecord, id)) !== undefined) continue;
    const value: WorkspaceRecord = {
      workspaceId: id,
      name: "Works",
      type: "team",
      owner: accountIdOf("ana"),
      members: id === workspaceId ? members : members.slice(0, 1),
      settings: { styleProfiles: { house: { content: "Short sentences." } } },
      createdAt: 1,
      updatedAt: 1,
    };
    await storage.commit({ partition: partitionOfId(id), records: [{ op: "put", type: workspaceRecord, value, replacing: null }] });
  }

  const app = createApp({
    contract: { topics: topicContract, runs: runContract, workflows: workflowContract } as never,
    handlers: {
      topics: createTopicHandlers({ topics: topicService.topics, ...runService }),
      runs: createRunHandlers(runService),
      workflows: createWorkflowHandlers(runService),
    } as never,
    authenticator: {
      async authenticate({ apiKey, bearer }): Promise<Principal> {
        const [username = "", scopes] = (apiKey ?? bearer ?? "").split("|");
        if (!(username in accounts)) throw new AppError("unauthenticated", "No such credential.");
        const account = { accountId: accountIdOf(username), username };
        if (apiKey === undefined) return { kind: "session", ...account, operator: false, sessionId: `ses_${username}` };
        return { kind: "key", ...account, operator: false, keyId: "key_1", scopes: (scopes ?? "").split(",").filter(Boolean) as Scope[] };
      },
    },
    access: createAccessResolver({ storage, locateArticle: node.articles.locate, locateRun: runService.runs.locate }),
    storage,
    limits,
    log,
    baseUrl,
    node: "node-1",
    leaseMs,
    corsOrigins: [],
    proxyHops: 0,
    routes: [],
    upgrade: () => ({ refuse: { status: 404, headers: {} } }),
  });
  const host = await startNodeHost(app, {
    host: "127.0.0.1",
    port: 0,
    maxFrameBytes: 1024,
    maxBufferedBytes: 1024,
    onError: (error) => void logged.push(String(error)),
  });
  pump.start();

  interface RequestOptions {
    readonly as?: Username;
    readonly key?: string;
    readonly headers?: Record<string, string>;
  }

  /** Returns the raw response, for tests of its bytes and headers. */
  function fetchAs(method: string, path: string, { as = "ana", key, headers = {} }: RequestOptions = {}, body?: unknown) {
    return fetch(`http://127.0.0.1:${host.port}${path}`, {
      method,
      headers: {
        ...(key === undefined ? { authorization: `Bearer ${as}` } : { "x-api-key": key }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async function request(method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> {
    const response = await fetchAs(method, path, options, body);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return { status: response.status, headers: response.headers, body: isJson && text !== "" ? JSON.parse(text) : text };
  }

  async function expect(status: number, method: string, path: string, body?: unknown, options: RequestOptions = {}) {
    const answer = await request(method, path, body, options);
    if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Calls a tRPC mutation. Resolves with the problem of a refusal, otherwise with the result. */
  async function trpc(path: string, input: object): Promise<{ readonly problem?: Answer["body"]; readonly result?: Answer["body"] }> {
    const { body } = await request("POST", `/trpc/${path}`, input);
    return body.error === undefined ? { result: body.result.data } : { problem: body.error.data.problem };
  }

  const inWorkspace = `/workspaces/${workspaceId}`;
  return {
    storage,
    node,
    actors,
    logged,
    fetch: fetchAs,
    request,
    expect,
    trpc,
    topicService,
    runService,
    async makeTopic(title = "Kites in high wind", rest: object = {}): Promise<string> {
      return (await expect(201, "POST", `${inWorkspace}/topics`, { title, targetAudience: "builders", ...rest })).topicId;
    },
    topicPath: (topicId: string, rest = "") => `${inWorkspace}/topics/${topicId}${rest}`,
    topic: (topicId: string) => expect(200, "GET", `${inWorkspace}/topics/${topicId}`),
    run: (runId: string) => expect(200, "GET", `/runs/${runId}`),
    /** Waits until the run is in one of these states. */
    async runIn(runId: string, ...states: readonly string[]): Promise<Answer["body"]> {
      for (let tries = 0; tries < 2000; tries += 1) {
        const state = (await storage.records.get(runRecord, runId))?.value.state;
        if (states.includes(String(state))) return expect(200, "GET", `/runs/${runId}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const last = (await storage.records.get(runRecord, runId))?.value;
      throw new Error(`${runId} is ${last?.state}: ${JSON.stringify(last?.context.failure)}; ${logged.slice(-3).join()}`);
    },
    async auditOf(topicId: string): Promise<readonly string[]> {
      const { events } = await expect(200, "GET", `${inWorkspace}/topics/${topicId}/audit`);
      return events.map(({ eventType }: { eventType: string }) => eventType).reverse();
    },
    async close() {
      await rooms.drain();
      await pump.drain(AbortSignal.abort());
      await host.close();
      await node.close();
      await storage.close();
    },
  };
}
