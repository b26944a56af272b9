/**
 * Fifty writers at all nodes read a value, change it, and write it back on condition that it is unchanged: the text of
 * one article with `baseRevision`, and the title of one topic with `If-Match`. Nodes are killed meanwhile. No change
 * may be lost under another one.
 *
 * Each write adds its name after the names it was built on. In the end, the writes form one chain from the last to the
 * first, and every acknowledged write must be in it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";

interface Scale {
  /** Writers of each of the two values. */
  readonly writers: number;
  /** Minimum number of updates of each value. The race continues until the last kill. */
  readonly updates: number;
  readonly kills: number;
  /** Milliseconds from a node's start to the next kill. */
  readonly everyMs: number;
}

/** The present value: the names of its writes in order, and its revision. */
interface Found {
  readonly names: readonly string[];
  readonly revision: number;
}

type Written =
  | { readonly kind: "done"; readonly revision: number | undefined }
  | { readonly kind: "refused"; readonly currentRevision: number | undefined }
  /** The node was killed, so the result is unknown. */
  | { readonly kind: "unknown" };

/** A value that all writers change. */
interface Subject {
  readonly name: string;
  read(node: number): Promise<Found | undefined>;
  write(node: number, names: readonly string[], base: number): Promise<Written>;
}

interface Writing {
  readonly name: string;
  /** Name of the write that this one is based on; "" for the first write. */
  readonly on: string;
  readonly base: number;
  readonly outcome: Written;
}

const answerMs = 10_000;
/** Only the latest names are kept: a title has no room for more, and longer texts would exceed the queue of edits. */
const namesInTitle = 8;
const namesInText = 400;

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each caller checks the body itself
  readonly body: any;
}

/** Returns undefined if there is no conclusive answer. */
async function ask(rig: Rig, node: number, method: string, path: string, body?: unknown, own = {}): Promise<Reply | undefined> {
  const { url, headers } = rig.rest(node);
  try {
    const answer = await fetch(url + path, {
      method,
      headers: { ...headers, ...own, "content-type": "application/json" },
      signal: AbortSignal.timeout(answerMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status === 503) return undefined;
    return { status: answer.status, headers: answer.headers, body: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function judge(reply: Reply | undefined, refusal: { readonly status: number; readonly code: string }): Written {
  if (reply === undefined) return { kind: "unknown" };
  const { status, body } = reply;
  if (status === 200) return { kind: "done", revision: body.revision };
  if (status === refusal.status && body.code === refusal.code) return { kind: "refused", currentRevision: body.currentRevision };
  throw new Error(`a writing was answered ${status}: ${JSON.stringify(body)}`);
}

async function makeText(rig: Rig): Promise<Subject> {
  const { articleId } = await rig.insist("POST", "/articles", { workspaceId: rig.workspaceId, title: "Written by all" });
  const path = `/articles/${articleId}/content`;
  return {
    name: "text",
    async read(node) {
      const body = (await ask(rig, node, "GET", path))?.body;
      return body && { names: body.content.split("\n").filter(Boolean), revision: body.revision };
    },
    async write(node, names, baseRevision) {
      const content = names
        .slice(-namesInText)
        .map((name) => `${name}\n`)
        .join("");
      const reply = await ask(rig, node, "PATCH", path, { mode: "replace", content, baseRevision, onConflict: "fail" });
      return judge(reply, { status: 409, code: "revision_conflict" });
    },
  };
}

async function makeTitle(rig: Rig): Promise<Subject> {
  const topics = `/workspaces/${rig.workspaceId}/topics`;
  const { topicId } = await rig.insist("POST", topics, { title: "-", targetAudience: "all" });
  const path = `${topics}/${topicId}`;
  return {
    name: "title",
    async read(node) {
      const reply = await ask(rig, node, "GET", path);
      if (reply === undefined) return undefined;
      const revision = Number(/^"r(\d+)"$/.exec(reply.headers.get("etag") ?? "")?.[1]);
      return { names: reply.body.title.split(" ").filter((name: string) => name !== "-"), revision };
    },
    async write(node, names, base) {
      const own = { "if-match": `"r${base}"` };
      const reply = await ask(rig, node, "PATCH", path, { title: names.slice(-namesInTitle).join(" ") }, own);
      return judge(reply, { status: 412, code: "precondition_failed" });
    },
  };
}

interface Race {
  readonly acked: number;
  readonly unknown: number;
  readonly refused: number;
  readonly lost: readonly string[];
  readonly dup: readonly string[];
  readonly bad: readonly string[];
}

/** Follows the chain back from the final value. */
function checkRace(subject: Subject, writings: readonly Writing[], first: number, last: Found): Race {
  const lost: string[] = [];
  const dup: string[] = [];
  const bad: string[] = [];
  const byName = new Map(writings.map((writing) => [writing.name, writing]));
  const chain: Writing[] = [];
  for (let name = last.names.at(-1) ?? ""; name !== ""; name = chain[0]?.on ?? "") {
    const writing = byName.get(name);
    if (writing === undefined || chain.includes(writing)) {
      bad.push(`${subject.name}: ${name} stands in the chain and was ${writing === undefined ? "never written" : "written twice"}`);
      break;
    }
    if (writing.outcome.kind === "refused") bad.push(`${subject.name}: ${name} was refused and stands there`);
    chain.unshift(writing);
  }
  const inChain = new Set(chain);
  const done = writings.filter(({ outcome }) => outcome.kind === "done");
  for (const writing of done) if (!inChain.has(writing)) lost.push(`${subject.name}: ${writing.name} was done and is lost`);

  // Each write is based on the revision of the write before it, and no two writes on the same revision.
  let revision = first;
  for (const { name, base, outcome } of chain) {
    if (base < revision) dup.push(`${subject.name}: ${name} was built on ${base}, and there was ${revision}`);
    if (base > revision) bad.push(`${subject.name}: between ${revision} and ${base}, that ${name} was built on, nobody wrote`);
    if (outcome.kind === "done" && outcome.revision !== undefined && outcome.revision !== base + 1) {
      bad.push(`${subject.name}: ${name} made revision ${outcome.revision} of ${base}`);
    }
    revision = base + 1;
  }
  if (last.revision !== revision) bad.push(`${subject.name}: ends at revision ${last.revision}, and ${revision} was written last`);
  const kept = chain.map(({ name }) => name).slice(-last.names.length);
  if (kept.join() !== last.names.join()) bad.push(`${subject.name}: what stands there is not what was written, in its order`);
  const count = (kind: Written["kind"]) => writings.filter(({ outcome }) => outcome.kind === kind).length;
  return { acked: done.length, unknown: count("unknown"), refused: count("refused"), lost, dup, bad };
}

async function play(rig: Rig, scale: Scale, tell: (what: string) => void) {
  const subjects = [await makeText(rig), await makeTitle(rig)] as const;
  const times: number[] = [];
  let isKilled = false;

  async function race(subject: Subject): Promise<Race> {
    const first = await subject.read(0);
    if (first === undefined) throw new Error("nothing can be read");
    const writings: Writing[] = [];
    let [done, next] = [0, 0];
    const seen: string[] = [];

    async function write(writer: number): Promise<void> {
      for (let turn = writer; done < scale.updates || !isKilled; turn += 1) {
        // Use each node in turn, and skip a node that is down.
        const node = rig.nodes[turn % rig.nodes.length]?.isUp === true ? turn : turn + 1;
        const found = await subject.read(node);
        if (found === undefined) {
          await pause(20);
          continue;
        }
        next += 1;
        const name = `w${writer}.${next}`;
        const begunMs = performance.now();
        const outcome = await subject.write(node, [...found.names, name], found.revision);
        writings.push({ name, on: found.names.at(-1) ?? "", base: found.revision, outcome });
        if (outcome.kind === "done") {
          done += 1;
          times.push(performance.now() - begunMs);
        }
        if (outcome.kind === "refused" && outcome.currentRevision !== undefined && outcome.currentRevision <= found.revision) {
          seen.push(`${subject.name}: ${name} was refused for revision ${outcome.currentRevision}, and was built on ${found.revision}`);
        }
      }
    }
    await Promise.all(Array.from({ length: scale.writers }, (_, writer) => write(writer)));
    let last: Found | undefined;
    for (let node = 0; last === undefined; node += 1) last = await subject.read(node);
    const result = checkRace(subject, writings, first.revision, last);
    for (const node of rig.nodes.keys()) {
      const there = await subject.read(node);
      if (JSON.stringify(there) !== JSON.stringify(last)) seen.push(`${subject.name}: node ${node} shows another`);
    }
    return { ...result, bad: [...result.bad, ...seen] };
  }

  const killing = (async () => {
    for (let kill = 0; kill < scale.kills; kill += 1) {
      await pause(scale.everyMs * (0.5 + Math.random()));
      const node = rig.nodes[kill % rig.nodes.length];
      await node?.kill();
      await node?.start();
    }
  })().finally(() => {
    isKilled = true;
  });
  const [races] = await Promise.all([Promise.all([race(subjects[0]), race(subjects[1])]), killing]);
  const sum = (of: (race: Race) => number) => races.reduce((total, each) => total + of(each), 0);
  for (const { lost, dup, bad } of races) for (const what of [...lost, ...dup, ...bad].slice(0, 20)) tell(what);
  return {
    load: `${scale.writers} writers of one article's text by baseRevision (${races[0].acked} updates) and ${scale.writers} of one topic's title by If-Match (${races[1].acked}); ${sum(({ refused }) => refused)} refused, ${sum(({ unknown }) => unknown)} without an answer`,
    faults: `${rig.kills} node kills`,
    bad: sum(({ bad }) => bad.length),
    acked: sum(({ acked }) => acked),
    lost: sum(({ lost }) => lost.length),
    dup: sum(({ dup }) => dup.length),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
}

export const editsRaced = createScenario<Scale>({
  name: "edits-raced",
  modes: ["E", "R"],
  short: { writers: 50, updates: 60, kills: 2, everyMs: 800 },
  full: { writers: 50, updates: 2000, kills: 25, everyMs: 4000 },
  play,
  figure: "no lost update of the article's text or the topic's title; each revision is made once, without a gap",
  holds: isClean,
});
