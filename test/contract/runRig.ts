/**
 * Creates runs as a server has them: topics, articles, rooms and runs are wired as in the product, and the operations
 * run over a real host. Only two parts are replaced: the caller (the bearer token is a username) and the steps, which a
 * test scripts.
 */
import { pino } from "pino";
import { folders as folderContract } from "../../api/contract/folders.ts";
import { jobs as jobContract } from "../../api/contract/jobs.ts";
import { runs as runContract } from "../../api/contract/runs.ts";
import { topics as topicContract } from "../../api/contract/topics.ts";
import { workflows as workflowContract } from "../../api/contract/workflows.ts";
import type { Limits } from "../../api/limits.ts";
import { createLocateFolder } from "../../server/domain/folders/locate.ts";
import { createFolderOperations } from "../../server/domain/folders/operations.ts";
import { createAccessResolver } from "../../server/domain/identity/workspaces/access.ts";
import { workspaceCountersRecord } from "../../server/domain/identity/workspaces/records.ts";
import { createStartJob, defineJobKind } from "../../server/domain/jobs/jobKind.ts";
import { createLocateJob } from "../../server/domain/jobs/locate.ts";
import { createJobService } from "../../server/domain/jobs/service.ts";
import { defineRunKind } from "../../server/domain/runs/engine/runKind.ts";
import type { Executors, StepContext, StepResult } from "../../server/domain/runs/executors/port.ts";
import { createRunListeners } from "../../server/domain/runs/listeners.ts";
import { createLocateRun } from "../../server/domain/runs/locate.ts";
import { runRecord } from "../../server/domain/runs/model/records.ts";
import { createRunService } from "../../server/domain/runs/service.ts";
import { topicListeners } from "../../server/domain/topics/listeners.ts";
import { createTopicService } from "../../server/domain/topics/service.ts";
import { createFolderHandlers } from "../../server/edge/handlers/folders.ts";
import { createRunHandlers } from "../../server/edge/handlers/runs.ts";
import { createTopicHandlers } from "../../server/edge/handlers/topics.ts";
import { createWorkflowHandlers } from "../../server/edge/handlers/workflows.ts";
import { createTimelineReader } from "../../server/edge/streams/timelineReader.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { composeParts } from "../support/composeParts.ts";
import { locateNothing } from "../support/locateNothing.ts";
import { type Answer, type RequestOptions, startOperationServer, workspaceId } from "../support/operationServer.ts";
import { composeArticles } from "./articleFixture.ts";

const accounts = { ana: "owner", ben: "member", dan: undefined } as const;
export type Username = keyof typeof accounts;

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

export type RunRig = Awaited<ReturnType<typeof createRunRig>>;

export async function createRunRig({ storage, executors = {}, limits: own = {} }: RunRigOptions) {
  const logged: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void logged.push(line) });
  /** Record types of each commit, one for each record that it writes. */
  const committed: { readonly types: readonly string[] }[] = [];
  const watched: Storage = {
    ...storage,
    async commit(batch) {
      const result = await storage.commit(batch);
      if (result.ok) committed.push({ types: (batch.records ?? []).map(({ type }) => type.name) });
      return result;
    },
  };
  const parts = composeParts(watched, { log, leaseMs: 2000, limits: { "rate.runs": "off", ...own } });
  const { actors, pump, limits } = parts;
  const runKind = defineRunKind({ keepEventsMs: limits["keep.events"] });
  const node = composeArticles(parts, {
    listeners: { ...topicListeners, ...createRunListeners({ storage, kind: runKind }) },
  });
  const { rooms } = node;
  const topicService = createTopicService({ ...parts, articles: node.writer });
  const runService = createRunService({
    ...parts,
    kind: runKind,
    topics: topicService.port,
    folders: topicService.folders,
    articles: node.writer,
    edits: node.edits,
    rooms,
    writing: node.writing,
    documents: node.documents,
    executors: toExecutors(executors),
    timeline: createTimelineReader(parts),
  });
  const jobKind = defineJobKind(limits);
  const folderOperations = createFolderOperations({
    ...parts,
    articles: node.folderArticles,
    topics: runService.folderTopics,
    startJob: createStartJob(jobKind),
  });
  const jobService = createJobService({ storage, kind: jobKind, works: folderOperations.works });
  parts.install([topicService.manifest, runService.manifest, jobService.manifest]);
  const server = await startOperationServer({
    parts,
    contract: { topics: topicContract, runs: runContract, workflows: workflowContract, folders: folderContract, jobs: jobContract },
    handlers: {
      topics: createTopicHandlers({ ...topicService, ...runService }),
      runs: createRunHandlers(runService),
      workflows: createWorkflowHandlers(runService),
      folders: createFolderHandlers(folderOperations),
      jobs: jobService.jobs,
    },
    access: createAccessResolver({
      storage,
      locators: {
        ...locateNothing,
        article: node.locate,
        folder: createLocateFolder(parts),
        job: createLocateJob(parts),
        run: createLocateRun(parts),
      },
    }),
    accounts,
    settings: { styleProfiles: { house: { content: "Short sentences." } } },
    onError: (error) => void logged.push(String(error)),
  });
  pump.start();
  const { request } = server;

  async function expect(status: number, method: string, path: string, body?: unknown, options: RequestOptions<Username> = {}) {
    const answer = await request(method, path, body, options);
    if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Calls a tRPC mutation. Resolves with the problem of a refusal, otherwise with the result. */
  async function trpc(path: string, input: object): Promise<{ readonly problem?: Answer["body"]; readonly result?: Answer["body"] }> {
    const { body } = await request("POST", `/trpc/${path}`, input);
    return body.error === undefined ? { result: body.result.data } : { problem: body.error.data.problem };
  }

  /** Ends the node and keeps the store. */
  async function stop(): Promise<void> {
    await rooms.drain();
    await pump.drain(AbortSignal.abort());
    await server.close();
    await node.close();
  }

  const inWorkspace = `/workspaces/${workspaceId}`;
  return {
    storage,
    node,
    actors,
    committed,
    logged,
    fetch: server.fetch,
    request,
    expect,
    trpc,
    topicService,
    runService,
    runKind,
    async makeTopic(title = "Kites in high wind", rest: object = {}): Promise<string> {
      return (await expect(201, "POST", `${inWorkspace}/topics`, { title, targetAudience: "builders", ...rest })).topicId;
    },
    topicPath: (topicId: string, rest = "") => `${inWorkspace}/topics/${topicId}${rest}`,
    /** Starts the staged pipeline of a topic. */
    startStaged: (topicId: string, body: object = {}): Promise<{ readonly runId: string; readonly articleId: string }> =>
      expect(202, "POST", `${inWorkspace}/topics/${topicId}/workflow-runs`, body),
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
    async projectCounter(): Promise<number | undefined> {
      return (await storage.records.get(workspaceCountersRecord, workspaceId))?.value.counters.project;
    },
    async auditOf(topicId: string): Promise<readonly string[]> {
      const { events } = await expect(200, "GET", `${inWorkspace}/topics/${topicId}/audit`);
      return events.map(({ eventType }: { eventType: string }) => eventType).reverse();
    },
    stop,
    async close() {
      await stop();
      await storage.close();
    },
  };
}
