/**
 * One Idempotency-Key has one outcome. Every request is sent five times at once to all nodes, while nodes are killed in
 * turn, in the same turn as an answer. Then each request is sent once more to each node. All answers must be equal, and
 * the requested work must exist once.
 */
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";

interface Scale {
  readonly requests: number;
  readonly kills: number;
  /** Milliseconds from a node's start to the next kill. */
  readonly betweenKillsMs: number;
  /** Milliseconds between two requests of one client. */
  readonly restMs: number;
}

interface PlannedRequest {
  readonly name: string;
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** Another request with the same key. */
  readonly otherBody: Record<string, unknown>;
}

/** Undefined: the node was killed, so the result is unknown. */
type Answer = { readonly status: number; readonly text: string; readonly isReplay: boolean } | undefined;

const copies = 5;
const atOnce = 6;
const answerMs = 10_000;
const patienceMs = 30_000;
/** After a kill, the leases of the node's attempts last for another second. */
const passing = new Set(["idempotency_in_progress", "unavailable"]);

const codeOf = (answer: Answer): string | undefined =>
  answer === undefined || answer.status < 400 ? undefined : (JSON.parse(answer.text).code as string);

async function play(rig: Rig, scale: Scale, tell: (what: string) => void) {
  const { workspaceId } = rig;
  const inside = `/workspaces/${workspaceId}`;
  const { articleId } = await rig.insist("POST", "/articles", { workspaceId, title: "Edited by all" });
  const { templateId } = await rig.insist("POST", "/templates", { workspaceId, name: "Of all", content: "A text.\n" });
  let [bad, acked, lost, dup, early] = [0, 0, 0, 0, 0];
  const times: number[] = [];
  const fault = (what: string) => {
    bad += 1;
    tell(what);
  };

  /** Returns a request of one of several kinds in turn, with a unique name. */
  function toPlannedRequest(number: number): PlannedRequest {
    const name = `Wish ${number}.`;
    const wishes: readonly Omit<PlannedRequest, "name">[] = [
      {
        method: "POST",
        path: "/articles",
        body: { workspaceId, title: name, content: `# ${name}\n` },
        otherBody: { workspaceId, title: "Other" },
      },
      {
        method: "POST",
        path: `${inside}/topics`,
        body: { title: name, targetAudience: "all" },
        otherBody: { title: "Other", targetAudience: "all" },
      },
      {
        method: "PATCH",
        path: `/articles/${articleId}/content`,
        body: { mode: "append", content: `${name}\n` },
        otherBody: { mode: "append", content: "Other" },
      },
      { method: "POST", path: "/articles", body: { workspaceId, title: name }, otherBody: { workspaceId, title: "Other" } },
      {
        method: "POST",
        path: `${inside}/webhooks`,
        body: { url: `${rig.receiver.url}/${number}.` },
        otherBody: { url: `${rig.receiver.url}/other` },
      },
      { method: "POST", path: `/articles/${articleId}/duplicate`, body: { title: name }, otherBody: { title: "Other" } },
      { method: "POST", path: `/templates/${templateId}/instantiate`, body: { title: name }, otherBody: { title: "Other" } },
      { method: "POST", path: `/articles/${articleId}/reviews`, body: { body: name }, otherBody: { body: "Other" } },
      { method: "POST", path: "/folders", body: { workspaceId, name }, otherBody: { workspaceId, name: "Other" } },
    ];
    return { name, ...(wishes[number % wishes.length] as Omit<PlannedRequest, "name">) };
  }

  /** Performs the planned kill once. */
  let strike = () => {};
  async function send(node: number, wish: PlannedRequest, body = wish.body): Promise<Answer> {
    const { url, headers } = rig.rest(node);
    try {
      const startedAt = performance.now();
      const answer = await fetch(url + wish.path, {
        method: wish.method,
        headers: { ...headers, "content-type": "application/json", "idempotency-key": wish.name },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(answerMs),
      });
      const isReplay = answer.headers.get("idempotency-replayed") === "true";
      const given = { status: answer.status, text: await answer.text(), isReplay };
      times.push(performance.now() - startedAt);
      if (given.status < 300) strike();
      return given;
    } catch {
      return undefined;
    }
  }

  async function insist(node: number, wish: PlannedRequest, body = wish.body): Promise<Answer> {
    for (const endMs = Date.now() + patienceMs; ; await pause(50)) {
      const answer = await send(node, wish, body);
      const code = codeOf(answer);
      if (answer !== undefined && (code === undefined || !passing.has(code))) return answer;
      if (Date.now() < endMs) continue;
      fault(`${wish.name} has no answer from node ${node}: ${JSON.stringify(answer)}`);
      return undefined;
    }
  }

  const answers = new Map<string, string>();
  function take(wish: PlannedRequest, answer: Answer, where: string): void {
    if (answer === undefined) return;
    const code = codeOf(answer);
    if (code === "idempotency_in_progress") early += 1;
    if (code !== undefined) {
      if (!passing.has(code)) fault(`${wish.name} ${where}: ${answer.status} ${answer.text}`);
      return;
    }
    const first = answers.get(wish.name);
    if (first === undefined) answers.set(wish.name, answer.text);
    else if (first !== answer.text) fault(`${wish.name} ${where} is answered ${answer.text} and was ${first}`);
    else if (!answer.isReplay && where !== "at once") fault(`${wish.name} ${where} ran again`);
  }

  const wishes: PlannedRequest[] = [];
  let isKilled = false;
  const killing = (async () => {
    for (let kill = 0; kill < scale.kills; kill += 1) {
      const node = rig.nodes[kill % rig.nodes.length];
      if (node === undefined) break;
      await pause(scale.betweenKillsMs);
      await new Promise<void>((resolve) => {
        strike = () => {
          strike = () => {};
          resolve(node.kill());
        };
      });
      await node.start();
    }
  })().finally(() => {
    isKilled = true;
  });
  await Promise.all([
    killing,
    ...Array.from({ length: atOnce }, async () => {
      while (wishes.length < scale.requests || !isKilled) {
        // No request is possible while no node is up.
        if (!rig.nodes.some(({ isUp }) => isUp)) {
          await pause(20);
          continue;
        }
        const wish = toPlannedRequest(wishes.length);
        wishes.push(wish);
        const given = await Promise.all(Array.from({ length: copies }, (_, copy) => send(copy, wish)));
        for (const answer of given) take(wish, answer, "at once");
        await pause(scale.restMs);
      }
    }),
  ]);
  acked = answers.size;

  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let at = next++; at < wishes.length; at = next++) {
        const wish = wishes[at] as PlannedRequest;
        const known = answers.has(wish.name);
        for (const node of rig.nodes.keys()) {
          const answer = await insist(node, wish);
          take(wish, answer, known || node > 0 ? `again at node ${node}` : "at once");
        }
        const other = await insist(at, wish, wish.otherBody);
        if (other?.status !== 422) fault(`${wish.name} took another request: ${other?.status} ${other?.text}`);
      }
    }),
  );

  /** Reads every page of a list. */
  async function readAll(path: string, member: string): Promise<readonly Record<string, string>[]> {
    const items: Record<string, string>[] = [];
    let token = "";
    do {
      const page = await rig.insist("GET", `${path}${path.includes("?") ? "&" : "?"}limit=100${token}`);
      items.push(...page[member]);
      token = page.nextToken === undefined ? "" : `&nextToken=${encodeURIComponent(page.nextToken)}`;
    } while (token !== "");
    return items;
  }
  const { content } = await rig.insist("GET", `/articles/${articleId}/content`);
  const there = [
    ...(await readAll(`/articles?workspaceId=${workspaceId}`, "articles")).map(({ title }) => title),
    ...(await readAll(`${inside}/topics`, "topics")).map(({ title }) => title),
    ...(await readAll(`${inside}/webhooks`, "webhooks")).map(({ url }) => `Wish ${/\/(\d+\.)$/.exec(url ?? "")?.[1]}`),
    ...(await readAll(`/articles/${articleId}/reviews`, "reviews")).map(({ body }) => body),
    ...(await readAll(`/folders?workspaceId=${workspaceId}`, "folders")).map(({ name }) => name),
    ...content.split("\n"),
  ];
  for (const { name } of wishes) {
    const times = there.filter((found) => found === name).length;
    if (times === 0) lost += 1;
    if (times > 1) dup += times - 1;
    if (times !== 1) tell(`${name} is there ${times} times`);
  }
  for (const other of there.filter((name) => name?.startsWith("Other") === true)) fault(`${other} was made after all`);
  if (early === 0) fault("no repeat arrived while the first still ran");
  return {
    load: `${wishes.length} requests, each ${copies} times at once to ${rig.nodes.length} nodes and then again to each; ${early} arrived while the first still ran`,
    faults: `${rig.kills} node kills`,
    bad,
    acked,
    lost,
    dup,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
}

export const requestsRepeated = createScenario<Scale>({
  name: "requests-repeated",
  modes: ["E", "R"],
  short: { requests: 100, kills: 3, betweenKillsMs: 100, restMs: 40 },
  full: { requests: 1000, kills: 20, betweenKillsMs: 300, restMs: 60 },
  rig: { settings: { WEBHOOK_RETRY_SCHEDULE: "3600" } },
  play,
  figure: "each request is executed once, its replies are equal, and another request under its key is 422",
  holds: (outcome) => isClean(outcome) && outcome.acked > 0,
});
