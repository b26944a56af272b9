/**
 * Measures how long one request on a text of 1.9 MB blocks the event loop, and how long `/healthz` waits meanwhile. The
 * server runs as a separate process, as it is shipped. A separate thread polls the health check. For each kind of
 * request, the largest value of all rounds is printed.
 */
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { type Rest, signIn } from "../test/support/clients.ts";
import { startServer } from "../test/support/server.ts";

const rounds = Number(process.argv[2] ?? 3);
/** The monitor samples the event loop at this interval, so an idle loop shows this value. */
const resolutionMs = 10;

/**
 * Runs inside the server: on a signal it logs the longest delay since the last one. The server's own metric samples once
 * a second, too rarely for one request.
 */
const monitorProgram = `
import { monitorEventLoopDelay } from "node:perf_hooks";
const delays = monitorEventLoopDelay({ resolution: ${resolutionMs} });
delays.enable();
process.on("SIGUSR2", () => {
  console.log(JSON.stringify({ level: "info", msg: "event loop", maxMs: delays.max / 1e6 }));
  delays.reset();
});
`;

/** Polls `/healthz` over one connection without a pause, and reports the longest wait on request. */
const pollProgram = `
const { parentPort, workerData } = require("node:worker_threads");
const http = require("node:http");
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
let longest = 0;
const poll = () => {
  const startedAt = performance.now();
  http.get(workerData + "/healthz", { agent }, (answer) => {
    answer.resume().once("end", () => {
      longest = Math.max(longest, performance.now() - startedAt);
      setTimeout(poll, 2);
    });
  }).once("error", () => undefined);
};
poll();
parentPort.on("message", () => {
  parentPort.postMessage(longest);
  longest = 0;
});
`;

const line = (at: number): string => `line ${at} of an article that grew long over the years\n`;
const text = Array.from({ length: 34_000 }, (_, at) => line(at)).join("");
/** Text that shares no line with `text` and has no repeated line. */
const unrelated = Array.from({ length: 34_000 }, (_, at) => `${(at * 7919).toString(36)} ${"zyxwv ".repeat(7)}${at}\n`).join("");
const scattered = text.replaceAll("article", "essay").replaceAll("years", "decades");
const inSeventh = text.replaceAll(/^line (\d*[07]) of/gm, "verse $1 of");
const nested = Array.from({ length: 3000 }, (_, at) => `${"> ".repeat(at % 50)}- *a **b [c](d) \`e\`** f* <b>g</b>\n`).join("");
const everywhere = ["line", "article", "grew", "long", "years"].map((find, at) => ({ find, replace: `word${at}`, occurrence: "all" }));
const inPlaces = Array.from({ length: 1000 }, (_, at) => ({ find: line(at * 30), replace: `LINE ${at * 30}\n` }));

interface Prepared {
  readonly status: number;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

interface Scenario {
  readonly name: string;
  /** Creates an article for the scenario and returns the request to measure. */
  prepare(rest: Rest, workspaceId: string): Promise<Prepared>;
}

async function create(rest: Rest, workspaceId: string, content: string): Promise<string> {
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Long", content });
  return `/articles/${articleId}`;
}

/** Creates an article whose revision 1 is `text` and whose live text is `live`. */
async function createMoved(rest: Rest, workspaceId: string, live: string): Promise<string> {
  const path = await create(rest, workspaceId, text);
  await rest.expect(200, "PUT", `${path}/content`, { content: live, baseRevision: 1 });
  return path;
}

/**
 * Creates an article with a long edit history: its text consists of tens of thousands of pieces. Returns its path and
 * revision.
 */
async function createWorn(rest: Rest, workspaceId: string): Promise<{ readonly path: string; readonly revision: number }> {
  const path = await create(rest, workspaceId, text);
  for (let round = 0; round < 10; round += 1) {
    const content = text.replaceAll(/^line (\d*)(\d) of/gm, (old, tens: string, last: string) =>
      Number(last) <= round ? `verse ${tens}${last} of` : old,
    );
    await rest.expect(200, "PUT", `${path}/content`, { content, baseRevision: round + 1 });
  }
  return { path, revision: 11 };
}

const edit = (name: string, body: object, status = 200): Scenario => ({
  name,
  prepare: async (rest, workspaceId) => ({
    status,
    method: "PATCH",
    path: `${await create(rest, workspaceId, text)}/content`,
    body: JSON.stringify(body),
  }),
});
const staleEdit = (name: string, live: string, body: object, status = 200): Scenario => ({
  name,
  prepare: async (rest, workspaceId) => ({
    status,
    method: "PATCH",
    path: `${await createMoved(rest, workspaceId, live)}/content`,
    body: JSON.stringify(body),
  }),
});
const difference = (format: string, live: string, kind: string): Scenario => ({
  name: `diff, ${format}, ${kind}`,
  prepare: async (rest, workspaceId) => ({
    status: 200,
    method: "GET",
    path: `${await createMoved(rest, workspaceId, live)}/diff?from=1&to=live&format=${format}`,
  }),
});

const scenarios: readonly Scenario[] = [
  {
    name: "create",
    prepare: async (_, workspaceId) => ({
      status: 201,
      method: "POST",
      path: "/articles",
      body: JSON.stringify({ workspaceId, title: "Long", content: text }),
    }),
  },
  edit("append", { mode: "append", content: "more\n" }),
  edit("replace, 68,000 words changed", { mode: "replace", content: scattered, baseRevision: 1 }),
  edit("replace, unrelated text", { mode: "replace", content: unrelated, baseRevision: 1 }),
  staleEdit("replace, stale, unrelated text", scattered, { mode: "replace", content: unrelated, baseRevision: 1 }, 413),
  staleEdit("replace, stale, unrelated short text", scattered, { mode: "replace", content: unrelated.slice(0, 50_000), baseRevision: 1 }),
  staleEdit("replace, stale, all merged", text.replaceAll("article", "essay"), {
    mode: "replace",
    content: text.replaceAll("years", "decades"),
    baseRevision: 1,
  }),
  edit("patch, 5 edits with occurrence all", { mode: "patch", edits: everywhere }),
  edit("patch, 1000 edits", { mode: "patch", edits: inPlaces }),
  difference("words", unrelated, "unrelated"),
  difference("words", scattered, "68,000 words"),
  difference("words", inSeventh, "every seventh line"),
  difference("json", scattered, "every line"),
  difference("unified", unrelated, "unrelated"),
  {
    name: "syntax tree, 0.1 MB of nested constructs",
    prepare: async (rest, workspaceId) => ({
      status: 200,
      method: "GET",
      path: `${await create(rest, workspaceId, nested.slice(0, 100_000))}/content?format=json`,
    }),
  },
  {
    name: "replace of a text in many pieces",
    prepare: async (rest, workspaceId) => {
      const { path, revision } = await createWorn(rest, workspaceId);
      const body = JSON.stringify({ content: unrelated, baseRevision: revision });
      return { status: 200, method: "PUT", path: `${path}/content`, body };
    },
  },
  {
    name: "an earlier revision of a text in many pieces",
    prepare: async (rest, workspaceId) => {
      const { path, revision } = await createWorn(rest, workspaceId);
      await rest.expect(200, "PATCH", `${path}/content`, { mode: "append", content: "more" });
      return { status: 200, method: "GET", path: `${path}/content?revision=${revision - 1}` };
    },
  },
  {
    name: "commit of a rewritten text",
    prepare: async (rest, workspaceId) => {
      const path = await create(rest, workspaceId, text);
      await rest.expect(201, "POST", `${path}/commits`, { message: "First" });
      await rest.expect(200, "PUT", `${path}/content`, { content: unrelated, baseRevision: 1 });
      return { status: 201, method: "POST", path: `${path}/commits`, body: JSON.stringify({ message: "Second" }) };
    },
  },
];

const monitor = `data:text/javascript,${encodeURIComponent(monitorProgram)}`;
const server = await startServer({ LIMITS: "off", NODE_OPTIONS: `--import ${monitor}` });
const poll = new Worker(pollProgram, { eval: true, workerData: server.url });

async function longestWait(): Promise<number> {
  poll.postMessage("longest");
  const [longest] = await once(poll, "message");
  return longest as number;
}

/** Longest event loop delay in milliseconds since the last call. */
async function longestDelay(): Promise<number> {
  const answers = () => server.logLines.filter(({ msg }) => msg === "event loop");
  const before = answers().length;
  process.kill(server.pid, "SIGUSR2");
  while (answers().length === before) await pause(1);
  return Math.max(0, Number(answers().at(-1)?.maxMs) - resolutionMs);
}

try {
  const rest = await signIn(server.url, server.operator);
  const { workspaces } = await rest.expect(200, "GET", "/workspaces");
  const { workspaceId } = workspaces[0];
  const wanted = process.argv[3];
  console.log(`${"".padEnd(44)} loop (ms)  /healthz (ms)  answer (ms)`);
  for (const { name, prepare } of scenarios) {
    if (wanted !== undefined && !name.includes(wanted)) continue;
    let worst = { delay: 0, wait: 0, answer: 0 };
    for (let round = 0; round < rounds; round += 1) {
      const { status, method, path, body } = await prepare(rest, workspaceId);
      await longestDelay();
      await longestWait();
      const startedAt = performance.now();
      await rest.expect(status, method, path, body, { "content-type": "application/json" });
      const answer = performance.now() - startedAt;
      const [delay, wait] = [await longestDelay(), await longestWait()];
      worst = { delay: Math.max(worst.delay, delay), wait: Math.max(worst.wait, wait), answer: Math.max(worst.answer, answer) };
    }
    const figures = [worst.delay, worst.wait, worst.answer].map((value, at) => value.toFixed(0).padStart([9, 14, 12][at] ?? 0));
    console.log(`${name.padEnd(44)} ${figures.join(" ")}`);
  }
} finally {
  await poll.terminate();
  await server.remove();
}
