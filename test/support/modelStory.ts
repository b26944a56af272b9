/**
 * Plays one run of `standard_article` whose model fails in one step while a person edits the article: from the topic to
 * the failure, and to the end after the model is repaired. Each story has its own workspace, so many can run at once.
 */
import { expect, vi } from "vitest";
import type { Run } from "../../api/schema/run.ts";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import { openEditor, type Rest } from "./clients.ts";
import type { ModelAnswer, ModelAsked, ModelEndpoint } from "./modelEndpoint.ts";

const stepNames = ["research", "thesis", "outline", "draft", "review"] as const;
export type StepName = (typeof stepNames)[number];

export interface Trouble {
  /** Step that fails; the draft by default. */
  readonly step?: StepName;
  /** `seen` resolves when the people have seen `shown` and have typed. */
  readonly answer: (asked: ModelAsked, seen: Promise<void>) => ModelAnswer;
  /** Text that the people in the article see before the failure. */
  readonly shown?: string;
  /** Runs while the outline waits for its approval. */
  readonly before?: () => Promise<void>;
  readonly mend?: () => Promise<void>;
  readonly budget?: object;
  readonly retryBudget?: object;
}

export interface Failure {
  readonly code: string;
  readonly says: RegExp;
  readonly retryable: boolean;
}

/** The person's words: before the model's text, and in the middle of it if there is any. */
const words = { before: "Ada: keep this line.\n\n", within: "[Ada was here]" };
export const goodTexts: Readonly<Record<StepName, string>> = {
  research: "# Research\n\nWhat readers ask about wells.\n",
  thesis: "A well is worth its depth.",
  outline: "# Wells\n\n## Digging\n\n- where to begin\n\n## Water\n\n- what to look for\n",
  draft: "# Wells\n\n## Digging\n\nBegin where the ground is low.\n\n## Water\n\nLook for what is clear.\n",
  review: JSON.stringify({ verdict: "ready", strengths: ["short"], issues: [] }),
};

/** Routes the model's requests: all stories use one endpoint, and the title identifies the story. */
export interface Stage {
  readonly asked: readonly ModelAsked[];
  answer(title: string, give: (asked: ModelAsked) => ModelAnswer): void;
  /** Adds another endpoint, which receives the requests of the same stories. */
  join(endpoint: ModelEndpoint): void;
}

export function createStage(first: ModelEndpoint): Stage {
  const answers = new Map<string, (asked: ModelAsked) => ModelAnswer>();
  const endpoints: ModelEndpoint[] = [];
  function join(endpoint: ModelEndpoint): void {
    endpoints.push(endpoint);
    endpoint.answer((asked) => answers.get(titleOf(asked))?.(asked) ?? { kind: "status", status: 400 });
  }
  join(first);
  return {
    get asked() {
      return endpoints.flatMap(({ asked }) => asked);
    },
    answer: (title, give) => void answers.set(title, give),
    join,
  };
}

const titleOf = ({ prompt }: ModelAsked) => /^# (.*)$/m.exec(prompt)?.[1] ?? "";
export const stepOf = ({ headers }: ModelAsked) => String(headers["idempotency-key"]).split("/")[1] as StepName;

export interface Story {
  readonly run: Run;
  /** All answers that the callers of the run received, as raw text. */
  readonly told: string;
  readonly asked: readonly ModelAsked[];
  readonly content: string;
}

let titles = 0;
const until = (holds: () => Promise<void>) => vi.waitFor(holds, { timeout: 30_000, interval: 50 });

export async function playTrouble(rest: Rest, stage: Stage, trouble: Trouble, failure: Failure): Promise<Story> {
  const { step: failing = "draft", shown = "" } = trouble;
  titles += 1;
  const title = `Wells ${titles}`;
  const failed = stepNames.indexOf(failing);
  const asked = () => stage.asked.filter((question) => titleOf(question) === title);
  let isMended = false;
  let tellSeen = () => {};
  const seen = new Promise<void>((resolve) => {
    tellSeen = resolve;
  });
  stage.answer(title, (question) => {
    const step = stepOf(question);
    return !isMended && step === failing ? trouble.answer(question, seen) : { kind: "text", text: goodTexts[step] };
  });

  const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: title, type: "team" });
  const { topicId } = await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, { title, targetAudience: "owners of gardens" });
  const start = { workspaceId, topicId, ...(trouble.budget === undefined ? {} : { budget: trouble.budget }) };
  const { runId, articleId } = await rest.expect(202, "POST", "/workflows/standard_article/runs", start);
  const editor = await openEditor(rest, articleId);
  try {
    const read = async (): Promise<string> => (await rest.expect(200, "GET", `/articles/${articleId}/content`)).content;
    const readRun = (): Promise<Run> => rest.expect(200, "GET", `/runs/${runId}`);
    let { before } = trouble;
    /** Approves every step as soon as the run waits for it. */
    async function goOn(): Promise<Run> {
      const run = await readRun();
      if (run.pendingApproval === undefined) return run;
      await before?.();
      before = undefined;
      await rest.expect(200, "POST", `/runs/${runId}/approvals/${run.pendingApproval.approvalId}`, { decision: "approve" });
      return readRun();
    }
    const statusOf = async () => (await goOn()).status;
    await until(async () => expect((await goOn()).steps[failed]?.attempt).toBe(1));
    if (shown !== "") {
      await editor.until((text) => text.includes(shown));
      editor.text.insert(editor.text.toString().indexOf(shown) + Math.floor(shown.length / 2), words.within);
    }
    editor.text.insert(0, words.before);
    await until(async () => expect(await read()).toContain(words.before));
    tellSeen();

    await until(async () => expect(await statusOf()).toBe("failed"));
    const run = await readRun();
    const { code, says: message, retryable } = failure;
    expect(run.failure).toEqual({ code, message: expect.stringMatching(message), retryable, stepName: failing });
    const said = run.failure?.message;
    expect(run.steps.map(({ status }) => status)).toEqual(
      stepNames.map((_, at) => (at < failed ? "completed" : at === failed ? "failed" : "pending")),
    );
    expect(run.steps[failed]?.error).toEqual({ code, message: said });
    const readEvents = async (): Promise<AgentEvent[]> => (await rest.expect(200, "GET", `/runs/${runId}/events?limit=100`)).events;
    const events = await readEvents();
    expect(events.at(-1)).toMatchObject({ event: "agent.run_failed", data: { code, message: said, stepName: failing, retryable } });

    // The shown text stays until a person decides: a retry removes it, or a person keeps it.
    const left = await read();
    expect(left).toContain(words.before);
    const half = Math.floor(shown.length / 2);
    if (shown !== "") expect(left).toContain(shown.slice(0, half) + words.within + shown.slice(half));

    const askedBefore = asked().length;
    isMended = true;
    await trouble.mend?.();
    await rest.expect(202, "POST", `/runs/${runId}/retry`, trouble.retryBudget === undefined ? {} : { budget: trouble.retryBudget });
    await until(async () => expect(await statusOf()).toBe("completed"));
    const ended = await readRun();
    expect(ended.failure).toBeUndefined();
    expect(ended.steps.map(({ attempt }) => attempt)).toEqual(stepNames.map((_, at) => (at === failed ? 2 : 1)));
    expect(asked().slice(askedBefore).map(stepOf)).toEqual(stepNames.slice(failed));
    const again = await readEvents();
    expect(
      again.flatMap((event) => (event.event === "agent.step_completed" && event.data.status === "completed" ? [event.data.stepName] : [])),
    ).toEqual(stepNames);

    const content = await read();
    const own = [words.before, ...(shown === "" ? [] : [words.within])];
    expect(own.reduce((text, typed) => text.replace(typed, ""), content)).toBe(goodTexts.draft);
    await editor.until((text) => text === content);

    const { artifacts } = await rest.expect(200, "GET", `/runs/${runId}/artifacts`);
    const told = [run, events, ended, again, artifacts, await rest.expect(200, "GET", `/articles/${articleId}`), left, content];
    return { run, told: JSON.stringify(told), asked: asked(), content };
  } finally {
    editor.close();
  }
}
