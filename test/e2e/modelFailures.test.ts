/**
 * Tests failures of the model, before its answer or in the middle of it: the run names the failure and the remedy, the
 * text that people typed stays, and the key appears nowhere. After the model is repaired, a retry completes the run
 * without repeating finished work.
 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Artifact, Run } from "../../api/schema/run.ts";
import { openEditor, type Rest, signIn } from "../support/clients.ts";
import { type ModelAnswer, type ModelAsked, type ModelEndpoint, startModelEndpoint } from "../support/modelEndpoint.ts";
import { createStage, playTrouble, type Stage, stepOf } from "../support/modelStory.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const apiKey = "sk-the-operators-own-4711";
const totalMs = 8000;
const maxFileBytes = 64 * 1024;
const maxOutputBytes = 256 * 1024;
const off = { "rate.default": "off", "rate.writes": "off", "rate.runs": "off", "rate.management": "off" };
const settings = (baseUrl: string) => ({
  MODEL_BASE_URL: baseUrl,
  MODEL_NAME: "stand-in",
  MODEL_API_KEY: apiKey,
  OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8",
  LIMITS: JSON.stringify({
    ...off,
    "model.quietMs": 1500,
    "model.totalMs": totalMs,
    "model.line": 256 * 1024,
    "model.answer": 2 * 1024 * 1024,
    "article.file": maxFileBytes,
    "run.stepOutput": maxOutputBytes,
  }),
});

/** Text that the people in the article see before the failure. It ends in the middle of a sentence. */
const shown = "# Wells\n\nA well that nobody will ever";
const stream = { "content-type": "text/event-stream" };

let endpoint: ModelEndpoint;
let server: RunningServer;
let rest: Rest;
let stage: Stage;

beforeAll(async () => {
  endpoint = await startModelEndpoint();
  stage = createStage(endpoint);
  server = await startServer(settings(endpoint.baseUrl));
  rest = await signIn(server.url, server.operator);
});
afterAll(async () => {
  await server.remove();
  await endpoint.close();
});

/** An answer that sends `shown`, waits until the people see it, and then does something else. */
function half(then: (response: ServerResponse) => Promise<void> | void) {
  return (_asked: unknown, seen: Promise<void>): ModelAnswer => ({
    kind: "script",
    async play(response, say) {
      response.writeHead(200, stream);
      say(shown);
      await seen;
      await then(response);
    },
  });
}

/** An answer that sends `shown` and then ends with a finish reason. */
function ends(finishReason: string, usage?: object) {
  const last = { choices: [{ index: 0, delta: {}, finish_reason: finishReason }], ...(usage === undefined ? {} : { usage }) };
  return half((response) => void response.end(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`));
}

/** An answer that repeats one piece until the connection is closed, and counts the sent bytes. */
function endless(piece: string, { code = 200, pieceMs = 0 } = {}) {
  const said = { bytes: 0, isOver: false };
  const answer = (): ModelAnswer => ({
    kind: "script",
    async play(response) {
      response.writeHead(code, stream);
      const closed = once(response, "close").then(() => {
        said.isOver = true;
      });
      while (!response.destroyed) {
        said.bytes += piece.length;
        if (response.write(piece)) await pause(pieceMs);
        else await Promise.race([once(response, "drain"), closed]);
      }
    },
  });
  return { said, answer };
}

const status =
  (code: number, message = "no") =>
  () =>
    ({ kind: "status", status: code, message, headers: { "retry-after-ms": "20" } }) satisfies ModelAnswer;
const unavailable = (says: RegExp, retryable = true) => ({ code: "provider_unavailable", says, retryable });
const budgetSpent = {
  code: "budget_exhausted",
  says: /budget of the run \(maxTokens\)\. Retry the run with a larger budget/,
  retryable: true,
};
/** Keeps the connection active after `shown` and never ends. */
const awake = half(async (response) => {
  const timer = setInterval(() => response.write(": still there\n\n"), 100);
  await once(response, "close");
  clearInterval(timer);
});

const more = { maxTokens: 1_000_000 };

describe.concurrent("[EX16] the run fails with an instruction, people's text stays, and a retry completes it, if a model", () => {
  test("never answers", async () => {
    const { asked } = await playTrouble(
      rest,
      stage,
      { answer: () => ({ kind: "script", play() {} }) },
      unavailable(/not finished within 8 s \(model\.totalMs\)/),
    );
    expect(asked.length).toBeGreaterThan(6);
  });

  test("keeps the connection open and sends no text", async () => {
    await playTrouble(rest, stage, { answer: awake, shown }, unavailable(/not finished within 8 s/));
  });

  test("stalls in the middle of its text", async () => {
    await playTrouble(rest, stage, { answer: half(() => {}), shown }, unavailable(/sent nothing for too long\. Retry the run later/));
  });

  test("fails again and again, however often it is asked", async () => {
    const story = await playTrouble(
      rest,
      stage,
      { answer: status(500, `at fault: ${apiKey}`) },
      unavailable(/failed \(500\)\. Retry the run later/),
    );
    expect(story.asked.filter((question) => stepOf(question) === "draft")).toHaveLength(4);
    expect(story.told).not.toContain("at fault");
  });

  test("refuses requests for their rate", async () => {
    await playTrouble(
      rest,
      stage,
      { answer: status(429) },
      { code: "provider_quota", says: /\(429\)\. Retry the run later/, retryable: true },
    );
  });

  test("refuses the credential", async () => {
    const refused = unavailable(/credential \(401\)\. The operator of the server has to check MODEL_API_KEY/, false);
    const { asked } = await playTrouble(rest, stage, { answer: status(401, `Incorrect API key provided: ${apiKey}`) }, refused);
    expect(asked.filter((question) => stepOf(question) === "draft")).toHaveLength(2);
  });

  test("does not exist under its name", async () => {
    await playTrouble(rest, stage, { answer: status(404) }, unavailable(/\(404\)\. The operator .* MODEL_BASE_URL and MODEL_NAME/, false));
  });

  test("stops quietly in the middle", async () => {
    const quiet = half((response) => void response.end());
    await playTrouble(rest, stage, { answer: quiet, shown }, unavailable(/broke off before it was finished\. Retry the run/));
  });

  test("breaks the connection in the middle", async () => {
    const torn = half((response) => void response.destroy());
    await playTrouble(rest, stage, { answer: torn, shown }, unavailable(/the connection broke off\. Retry the run later/));
  });

  test("sends broken JSON in the middle and would continue", async () => {
    let isHungUp = false;
    const broken = half(async (response) => {
      response.write('data: {"choices": [{"delta": \n\n');
      await once(response, "close");
      isHungUp = true;
    });
    await playTrouble(rest, stage, { answer: broken, shown }, unavailable(/its answer could not be read\. Retry the run later/));
    expect(isHungUp).toBe(true);
  });

  test("answers with a page instead of a stream", async () => {
    const page = (): ModelAnswer => ({
      kind: "script",
      play: (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>\nWelcome!\n</html>\n"),
    });
    await playTrouble(
      rest,
      stage,
      { answer: page },
      unavailable(/gave no answer\. The operator of the server has to check MODEL_BASE_URL/, false),
    );
  });

  test("reports its own failure in the middle", async () => {
    const report = half((response) => void response.end(`data: {"error":{"message":"overloaded ${apiKey}"}}\n\n`));
    const { told } = await playTrouble(rest, stage, { answer: report, shown }, unavailable(/reported an error in the middle/));
    expect(told).not.toContain("overloaded");
  });

  test("ends without a text", async () => {
    await playTrouble(rest, stage, { answer: () => ({ kind: "text", text: " \n" }) }, unavailable(/answer was empty\. Retry the run/));
  });

  test("stops at its greatest length", async () => {
    const cut = { code: "step_failed", says: /maximum length .* Ask for a shorter text/, retryable: true };
    await playTrouble(rest, stage, { answer: ends("length"), shown }, cut);
  });

  test("filters its text", async () => {
    const filtered = { code: "step_failed", says: /filter refused the text\. Change/, retryable: false };
    await playTrouble(rest, stage, { answer: ends("content_filter"), shown }, filtered);
  });

  test("answers the review with something other than a review", async () => {
    const trouble = { step: "review", answer: (): ModelAnswer => ({ kind: "text", text: "Looks good to me!" }) } as const;
    await playTrouble(rest, stage, trouble, { code: "step_failed", says: /not the review that was asked for/, retryable: true });
  });

  test("writes more than the file allows", async () => {
    const answer = (): ModelAnswer => ({ kind: "text", text: `${shown}\n${"word ".repeat(maxFileBytes / 4)}`, pieceCharacters: 4000 });
    await playTrouble(rest, stage, { answer }, { code: "content_too_large", says: /article\.file|65536/, retryable: false });
  });
});

describe.concurrent("[EX3] the budget of the run", () => {
  test("stops a text that would exceed it, and the connection to the endpoint is closed", async () => {
    const { said, answer } = endless(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "word ".repeat(20) } }] })}\n\n`, {
      pieceMs: 1,
    });
    await playTrouble(rest, stage, { answer, budget: { maxTokens: 3000 }, retryBudget: more, shown: "word word" }, budgetSpent);
    await vi.waitFor(() => expect(said.isOver).toBe(true));
  });

  test("is sent to the endpoint as a limit, and a text cut there has spent it", async () => {
    const answer = (asked: ModelAsked, seen: Promise<void>): ModelAnswer => {
      const { maxTokens = Number.NaN } = asked;
      expect(maxTokens).toBeLessThan(3000);
      return ends("length", { prompt_tokens: 10, completion_tokens: maxTokens })(asked, seen);
    };
    await playTrouble(rest, stage, { answer, budget: { maxTokens: 3000 }, retryBudget: more, shown }, budgetSpent);
  });

  test("limits the steps together, even if the endpoint counts no tokens", async () => {
    const step = "thesis";
    const answer = (): ModelAnswer => ({ kind: "text", text: "word ".repeat(3000), usage: null });
    const { run } = await playTrouble(rest, stage, { step, answer, budget: { maxTokens: 3000 }, retryBudget: more }, budgetSpent);
    expect(run.usage.outputTokens).toBeGreaterThan(2000);
  });

  test("also limits dollars and seconds", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 10, cost: 2 };
    const dollars = { answer: ends("stop", usage), shown, budget: { maxUsd: 1 }, retryBudget: { maxUsd: 10 } };
    const dear = { code: "budget_exhausted", says: /\(maxUsd\)\. Retry the run with a larger budget/, retryable: true };
    const seconds = { answer: awake, shown, budget: { maxSeconds: 5 }, retryBudget: { maxSeconds: 600 } };
    const slow = { code: "budget_exhausted", says: /\(maxSeconds\)\. Retry the run with a larger budget/, retryable: true };
    await Promise.all([playTrouble(rest, stage, dollars, dear), playTrouble(rest, stage, seconds, slow)]);
  });
});

describe.concurrent("[EX18] an answer that would fill the memory is cut off", () => {
  test("a line without an end", async () => {
    const { said, answer } = endless("a".repeat(16 * 1024));
    await playTrouble(rest, stage, { answer }, unavailable(/a line of its answer is longer than 262144 bytes\. Retry the run later/));
    await vi.waitFor(() => expect(said.isOver).toBe(true));
    expect(said.bytes).toBeLessThan(32 * 1024 * 1024);
  });

  test("events without a text", async () => {
    const { said, answer } = endless(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: "assistant", pad: "a".repeat(8000) } }] })}\n\n`,
    );
    await playTrouble(rest, stage, { answer }, unavailable(/its answer is longer than 2097152 bytes/));
    await vi.waitFor(() => expect(said.isOver).toBe(true));
  });

  test("an answer to a bad request", async () => {
    const { said, answer } = endless("a".repeat(4096), { code: 500 });
    await playTrouble(rest, stage, { answer }, unavailable(/failed \(500\)\. Retry/));
    await vi.waitFor(() => expect(said.isOver).toBe(true));
  });

  test("a text above the limit of a step", async () => {
    const answer = (): ModelAnswer => ({ kind: "text", text: "word ".repeat(maxOutputBytes / 4), pieceCharacters: 4000 });
    const long = { code: "payload_too_large", says: /longer than 262144 bytes.*\(run\.stepOutput\)/, retryable: true };
    await playTrouble(rest, stage, { step: "thesis", answer }, long);
  });
});

test("[EX17] a redirect by a model is not followed, and the key is sent nowhere else", async () => {
  const elsewhere = await startModelEndpoint();
  try {
    const location = `${elsewhere.baseUrl}/chat/completions`;
    const answer = (): ModelAnswer => ({ kind: "status", status: 307, headers: { location } });
    const { told, asked } = await playTrouble(
      rest,
      stage,
      { answer },
      unavailable(/answered with a redirect \(307\).* MODEL_BASE_URL/, false),
    );
    expect(elsewhere.asked).toEqual([]);
    expect(told).not.toContain(elsewhere.baseUrl);
    expect(asked.every(({ headers }) => headers.authorization === `Bearer ${apiKey}`)).toBe(true);
  } finally {
    await elsewhere.close();
  }
});

test("[EX16][EX17] an unreachable endpoint is reported as that, and a retry completes the run later", async () => {
  let away = await startModelEndpoint();
  const ofAway = createStage(away);
  const other = await startServer(settings(away.baseUrl));
  try {
    const trouble = {
      answer: status(500),
      before: () => away.close(),
      async mend() {
        away = await startModelEndpoint(Number(new URL(away.baseUrl).port));
        ofAway.join(away);
      },
    };
    const refused = unavailable(/could not be used: it refused the connection\. Retry the run later/);
    const { told } = await playTrouble(await signIn(other.url, other.operator), ofAway, trouble, refused);
    expect(told).not.toContain(new URL(away.baseUrl).host);
    expect(told + JSON.stringify(other.logLines) + other.stderr).not.toContain(apiKey);
  } finally {
    await other.remove();
    await away.close();
  }
});

test("[EX19] NUL and half surrogate pairs become U+FFFD, equally in text, artifact and editors", async () => {
  const title = "Odd words";
  const pieces = [
    "# Odd\n\nA bell \u0007, a smile \ud83d",
    "\ude00, nothing \0, half \ud83d",
    " and half \ude00, a line\r",
    "\nand \u2028\ufeff, the end \ud83d",
  ];
  stage.answer(title, (asked) => ({
    kind: "script",
    async play(response, say) {
      response.writeHead(200, stream);
      for (const piece of pieces) {
        say(piece);
        // The pause lets each piece arrive in its own flush where possible.
        await pause(100);
      }
      expect(stepOf(asked)).toBe("draft");
      response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`);
    },
  }));
  const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: title, type: "team" });
  const { topicId } = await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, { title, targetAudience: "owners of gardens" });
  const path = `/workspaces/${workspaceId}/topics/${topicId}/draft/actions`;
  const { runId, articleId } = await rest.expect(202, "POST", path, { action: "create" });
  const editor = await openEditor(rest, articleId);
  try {
    const statusOf = async () => (await rest.expect<Run>(200, "GET", `/runs/${runId}`)).status;
    await vi.waitFor(async () => expect(await statusOf()).toBe("completed"), { timeout: 30_000 });
    const whole = Buffer.from(pieces.join("").replaceAll("\0", "\ufffd")).toString();
    expect(whole).toContain("a smile \u{1f600}, nothing \ufffd, half \ufffd and half \ufffd");
    expect((await rest.expect(200, "GET", `/articles/${articleId}/content`)).content).toBe(whole);
    await editor.until((text) => text === whole);
    const { artifacts } = await rest.expect<{ artifacts: Artifact[] }>(200, "GET", `/runs/${runId}/artifacts`);
    const { artifactKey } = artifacts.find(({ kind }) => kind === "draft") ?? { artifactKey: "" };
    const artifact = await rest.expect<string>(200, "GET", `/runs/${runId}/artifacts/${artifactKey}`, undefined, {
      accept: "text/markdown",
    });
    expect(artifact).toBe(whole);
    const { commits } = await rest.expect(200, "GET", `/articles/${articleId}/commits?kind=agent`);
    expect(commits).toHaveLength(1);
  } finally {
    editor.close();
  }
});

test("[EX17] the key of the model is in no log", () => {
  const log = server.logLines.map((line) => JSON.stringify(line)).join("\n") + server.stderr;
  expect(log).toContain("the model's endpoint failed");
  expect(log).not.toContain(apiKey);
});
