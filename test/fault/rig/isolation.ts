/**
 * No account can read another workspace. Every operation over REST and tRPC (alone and batched), every stream, ticket,
 * socket and page token is tried with foreign ids, by every kind of caller, at every node. Each answer must equal the
 * answer for ids that do not exist, and no answer may contain data of the owner.
 */
import { WebSocket } from "ws";
import { createRest, type Rest } from "../../support/clients.ts";
import { closeReaders, eventsOf, openReader } from "../../support/eventReader.ts";
import { type Ids, readSeededAccount } from "../../support/seededAccount.ts";
import { type Caller, ownersMark, settleNeighbourhood } from "./callers.ts";
import { percentile } from "./outcome.ts";
import { operations, type Probe, probedStreams, toAsked, toProbes } from "./probes.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";

interface Scale {
  readonly rounds: number;
  /** Maximum extra time of the answer for a foreign id, compared with a missing one. Not checked on a busy machine. */
  readonly differenceMs: number | undefined;
}

/** The parts of an answer that a caller could compare. */
interface Seen {
  readonly status: number;
  readonly code?: string | undefined;
  readonly text: string;
}

const atOnce = 6;
const idPattern = /\b[a-z]{2,3}_[0-7][0-9A-Z]{25}\b/g;
const partsOfBatch = 100;
/** Status that a close code represents. A revoked key has its own code. */
const closes = new Map([
  [4401, { status: 401 }],
  [4410, { status: 401 }],
  [4403, { status: 403 }],
  [4404, { status: 404, code: "not_found" }],
]);
/** Minimum number of lists in which the owner has more than one page of one item. */
const leastTokens = 8;

async function forEach<Item>(items: readonly Item[], work: (item: Item, at: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let at = next++; at < items.length; at = next++) await work(items[at] as Item, at);
    }),
  );
}

const probes = operations.flatMap(toProbes);
/** Operations for operators concern accounts, not workspaces. */
const ofNeighbours = probes.filter(({ operation }) => operation.spec.credential !== "operator");
const streamProbes = probedStreams.flatMap(({ key, spec }) => toProbes({ key, spec: { ...spec, method: "GET" } as never }));

/** Returns the probes in which all ids are foreign, which are the last ones of each operation. */
function wholeOf(all: readonly Probe[]): readonly Probe[] {
  return all.filter(({ operation }, at) => all[at + 1]?.operation.key !== operation.key);
}

async function play(rig: Rig, scale: Scale, tell: (what: string) => void) {
  const town = await settleNeighbourhood(rig);
  const { owner, neighbour, missing } = town;
  const dropUse = (read: Record<string, unknown>) => JSON.stringify(read, (name, value) => (name === "lastUsedAt" ? undefined : value));
  const before = dropUse(await readSeededAccount(owner));
  /** The owner's account id is not secret, because an operator can list it. */
  const secrets = [...new Set(before.match(idPattern))].filter((id) => !id.startsWith("usr_"));
  const spoken = new Map([
    ...Object.entries(owner.ids).map(([name, id]) => [id, `<${name}>`] as const),
    ...Object.entries(missing).map(([name, id]) => [id, `<${name}>`] as const),
  ]);
  const anySpoken = new RegExp([...spoken.keys()].filter((id) => id.length > 12).join("|"), "g");
  const asked = new Set(Object.values(owner.ids));
  let [count, bad] = [0, 0];
  const foreignMs: number[] = [];
  const missingMs: number[] = [];

  const fault = (what: string) => {
    bad += 1;
    tell(what);
  };

  /** Checks that the text contains no data of the owner except ids that the caller sent. */
  function search(what: string, text: string): void {
    if (text.toLowerCase().includes(ownersMark.toLowerCase()))
      fault(`${what}: the answer holds a text of the owner: ${text.slice(0, 300)}`);
    const leaked = secrets.find((id) => !asked.has(id) && text.includes(id));
    if (leaked !== undefined) fault(`${what}: the answer holds ${leaked}: ${text.slice(0, 300)}`);
  }

  function toSeen(status: number, body: unknown, more = ""): Seen {
    const {
      requestId: _,
      instance: __,
      ...rest
    } = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : { body };
    const text = `${status} ${more} ${JSON.stringify(rest)}`;
    return { status, code: rest.code as string | undefined, text };
  }

  /** Checks that the answers for a foreign id and for a missing one are equal. */
  function compare(what: string, caller: Caller, theirs: Seen, nobodys: Seen, isResource: boolean): void {
    count += 1;
    search(what, theirs.text);
    const [one, other] = [theirs, nobodys].map(({ text }) => text.replaceAll(anySpoken, (id) => spoken.get(id) ?? id));
    if (one !== other) fault(`${what}: foreign and missing differ: ${one?.slice(0, 400)} // ${other?.slice(0, 400)}`);
    if (theirs.status >= 500) fault(`${what}: ${theirs.text.slice(0, 300)}`);
    if (!caller.isKnown && theirs.status !== 401) fault(`${what}: ${theirs.status} without a good credential`);
    if (caller.isKnown && isResource && ![403, 404].includes(theirs.status)) fault(`${what}: ${theirs.text.slice(0, 300)}`);
    if (caller.isFull && isResource && theirs.code !== "not_found") fault(`${what}: ${theirs.text.slice(0, 300)} instead of not_found`);
  }

  async function overRest(rest: Rest, caller: Caller, probe: Probe, at: number): Promise<void> {
    const ask = async (ids: Ids, times: number[]): Promise<Seen> => {
      const { method, path, body } = probe.ask(neighbour.ids, ids);
      const startedAt = performance.now();
      const answer = await rest.request(method, path, body);
      times.push(performance.now() - startedAt);
      return toSeen(answer.status, answer.body, `${answer.headers.get("content-type")} ${answer.headers.get("etag")}`);
    };
    // The order alternates, so that it does not affect the times.
    const theirsFirst = at % 2 === 0 ? await ask(owner.ids, foreignMs) : undefined;
    const nobodys = await ask(missing, missingMs);
    const theirs = theirsFirst ?? (await ask(owner.ids, foreignMs));
    compare(`${probe.operation.key} with ${probe.place} by ${caller.name}`, caller, theirs, nobodys, probe.isResource);
  }

  /** Sends all probes in few requests, with `batch.calls` each. */
  async function overTrpc(rest: Rest, caller: Caller, all: readonly Probe[], isBatch: boolean): Promise<void> {
    const ask = async (ids: Ids): Promise<Seen[]> => {
      const inputs = all.map((probe) => probe.ask(neighbour.ids, ids).input);
      const path = `/trpc/${all.map(({ operation }) => operation.key).join(",")}${isBatch ? "?batch=1" : ""}`;
      const { body } = await rest.request("POST", path, isBatch ? { ...inputs } : inputs[0]);
      return (isBatch ? body : [body]).map(({ error, result }: { error?: { data: { problem: { status: number } } }; result?: unknown }) =>
        error === undefined ? toSeen(200, result) : toSeen(error.data.problem.status, error.data.problem),
      );
    };
    const [theirs, nobodys] = [await ask(owner.ids), await ask(missing)];
    for (const [at, probe] of all.entries()) {
      const what = `${probe.operation.key} with ${probe.place} by ${caller.name} over tRPC${isBatch ? ", in a batch" : ""}`;
      compare(what, caller, theirs[at] as Seen, nobodys[at] as Seen, probe.isResource);
    }
  }

  async function overStream(rest: Rest, caller: Caller, probe: Probe): Promise<void> {
    const ask = async (ids: Ids, trpc: boolean): Promise<Seen> => {
      const { path, input } = probe.ask(neighbour.ids, ids);
      const end = new AbortController();
      const url = trpc ? `/trpc/${probe.operation.key}?input=${encodeURIComponent(JSON.stringify(input))}` : path;
      const answer = await fetch(rest.url + url, { headers: { ...rest.headers }, signal: end.signal });
      if (trpc) {
        const text = await answer.text();
        const { problem } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text).data;
        return toSeen(problem.status, problem);
      }
      if (answer.status !== 200) return toSeen(answer.status, await answer.json());
      end.abort();
      return toSeen(200, {});
    };
    const what = `the stream ${probe.operation.key} with ${probe.place} by ${caller.name}`;
    compare(what, caller, await ask(owner.ids, false), await ask(missing, false), probe.isResource);
    // An open subscription does not end by itself.
    if (!probe.isResource) return;
    compare(`${what} over tRPC`, caller, await ask(owner.ids, true), await ask(missing, true), true);
  }

  /** Returns how a socket ends, and whether it received a message before. */
  function overSocket(url: string, path: string, headers: Caller["headers"]): Promise<Seen> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`${url.replace("http", "ws")}/collab/${path}`, { headers });
      let told = 0;
      socket.on("error", reject);
      socket.on("message", () => (told += 1));
      // Send a first frame that is not a credential, because the test does not wait for the credential timeout.
      socket.on("open", () => socket.send(Uint8Array.from([0, 0, 1, 0])));
      socket.on("close", (code, reason) => resolve({ ...(closes.get(code) ?? { status: code }), text: `${code} ${reason} after ${told}` }));
    });
  }

  async function besides(rest: Rest, caller: Caller): Promise<void> {
    for (const kind of ["workspace", "article", "run"] as const) {
      const ask = async (ids: Ids) => {
        const { status, body } = await rest.request("POST", "/auth/stream-ticket", { resource: `${kind}:${ids[`${kind}Id`]}` });
        return toSeen(status, body);
      };
      compare(`a ticket for a foreign ${kind} by ${caller.name}`, caller, await ask(owner.ids), await ask(missing), true);
    }
    const open = (ids: Ids) => overSocket(rest.url, ids.articleId, caller.headers);
    const closed = await open(owner.ids);
    compare(`a socket by ${caller.name}`, caller, closed, await open(missing), true);
  }

  /** A ticket is valid only for its own resource. */
  async function withTickets(url: string, rest: Rest, caller: Caller): Promise<void> {
    const barred = { ...caller, isKnown: false, isFull: false };
    for (const kind of ["workspace", "article", "run"] as const) {
      const { ticket } = await rest.expect(201, "POST", "/auth/stream-ticket", { resource: `${kind}:${neighbour.ids[`${kind}Id`]}` });
      for (const { key, spec } of probedStreams) {
        const ask = async (ids: Ids) => {
          const { path } = toAsked({ key, spec: { ...spec, method: "GET" } as never }, ids, ids, []);
          const { status, body } = await createRest(url).request("GET", `${path}?ticket=${ticket}`);
          return toSeen(status, body);
        };
        compare(`a ticket for one's own ${kind} at the stream ${key}`, barred, await ask(owner.ids), await ask(missing), true);
      }
      const open = (ids: Ids) => overSocket(url, `${ids.articleId}?ticket=${ticket}`, {});
      compare(`a ticket for one's own ${kind} at a socket`, barred, await open(owner.ids), await open(missing), true);
    }
  }

  /** A page token of the owner is refused for another account, in its own workspace and in the owner's. */
  async function withPageTokens(node: number): Promise<number> {
    let tokens = 0;
    const [ownerRest, rest] = [owner.rest, neighbour.rest].map(({ headers }) => createRest(rig.rest(node).url, headers)) as [Rest, Rest];
    for (const operation of operations) {
      if (operation.spec.query === undefined || !("nextToken" in operation.spec.query.shape)) continue;
      const pathOf = (ids: Ids) => {
        const { path } = toAsked(operation, ids, ids, []);
        return `${path}${path.includes("?") ? "&" : "?"}limit=1`;
      };
      const { body } = await ownerRest.request("GET", pathOf(owner.ids));
      if (body.nextToken === undefined) continue;
      tokens += 1;
      const token = `&nextToken=${encodeURIComponent(body.nextToken)}`;
      const [atHome, atTheirs] = [
        await rest.request("GET", pathOf(neighbour.ids) + token),
        await rest.request("GET", pathOf(owner.ids) + token),
      ];
      count += 2;
      for (const answer of [atHome, atTheirs]) search(`a page token of ${operation.key}`, JSON.stringify(answer.body));
      if (atHome.body.code !== "invalid_next_token") fault(`${operation.key} took another's page token: ${JSON.stringify(atHome.body)}`);
    }
    return tokens;
  }

  /** A stream of the caller's own workspace has no events of the owner, even with filters for the owner's ids. */
  async function listen(node: number): Promise<void> {
    const rest = createRest(rig.rest(node).url, neighbour.rest.headers);
    const path = `/workspaces/${neighbour.ids.workspaceId}/timeline/stream?from=start`;
    const { runId, topicId } = owner.ids;
    const all = await openReader(rest, path);
    const filtered = await Promise.all([`&runId=${runId}`, `&topicId=${topicId}`].map((filter) => openReader(rest, path + filter)));
    const cursor = await openReader(rest, `/runs/${neighbour.ids.runId}/stream?lastEventId=${encodeURIComponent(`${runId}:1`)}`);
    await rest.expect(202, "POST", `/runs/${neighbour.ids.runId}/cancel`);
    // At this event, the other streams would have received their events too.
    await all.until((told) => told.some(({ event }) => event === "agent.run_cancelled"));
    for (const reading of [all, ...filtered, cursor]) search("a stream at home", reading.text);
    for (const reading of filtered)
      if (eventsOf(reading.told).length > 0) fault(`a filter by a foreign id shows ${reading.text.slice(0, 300)}`);
    count += 4;
    closeReaders();
  }

  // Control: the owner's own requests return the owner's data.
  await forEach(wholeOf(probes), async ({ operation, ask }) => {
    const { method, path } = ask(owner.ids, owner.ids);
    if (method !== "GET") return;
    const [own, nothing] = [await owner.rest.request("GET", path), await owner.rest.request("GET", ask(missing, missing).path)];
    if (operation.spec.credential !== "operator" && toSeen(own.status, own.body).text === toSeen(nothing.status, nothing.body).text) {
      fault(`${operation.key} answers the owner ${JSON.stringify(own.body)}, as for ids of nothing`);
    }
  });

  for (let round = 0; round < scale.rounds; round += 1) {
    for (const node of rig.nodes.keys()) {
      for (const caller of town.callers) {
        const rest = createRest(rig.rest(node).url, caller.headers);
        const mine = caller.hasHome ? ofNeighbours : wholeOf(ofNeighbours);
        await forEach(mine, (probe, at) => overRest(rest, caller, probe, at));
        for (let from = 0; from < mine.length; from += partsOfBatch) {
          await overTrpc(rest, caller, mine.slice(from, from + partsOfBatch), true);
        }
        if (caller.isFull) await forEach(mine, (probe) => overTrpc(rest, caller, [probe], false));
        await forEach(caller.hasHome ? streamProbes : wholeOf(streamProbes).filter(({ isResource }) => isResource), (probe) =>
          overStream(rest, caller, probe),
        );
        await besides(rest, caller);
        if (caller.isFull) await withTickets(rest.url, rest, caller);
      }
      const tokens = await withPageTokens(node);
      if (tokens < leastTokens) fault(`only ${tokens} lists of the owner have a second page`);
    }
  }
  await listen(rig.nodes.length - 1);
  if (dropUse(await readSeededAccount(owner)) !== before) fault("what the owner reads is not what it was");
  const difference = Math.abs(percentile(foreignMs, 0.5) - percentile(missingMs, 0.5));
  if (scale.differenceMs !== undefined && difference >= scale.differenceMs) fault(`the times differ by ${difference} ms`);
  return {
    load: `${town.callers.length} kinds of callers, ${operations.length} operations, ${probedStreams.length} streams; medians ${difference.toFixed(1)} ms apart`,
    faults: "ids of another workspace in every place",
    bad,
    acked: count,
    lost: 0,
    dup: 0,
    p50: percentile(foreignMs, 0.5),
    p99: percentile(foreignMs, 0.99),
  };
}

export const isolation = createScenario<Scale>({
  name: "isolation",
  modes: ["E", "R"],
  short: { rounds: 1, differenceMs: undefined },
  full: { rounds: 5, differenceMs: 2 },
  // The webhooks have unreachable addresses, and no retries happen during the comparisons.
  rig: { settings: { BASE_URL: "http://127.0.0.1:8787", OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8", WEBHOOK_RETRY_SCHEDULE: "3600" } },
  play,
  figure: "2,000 probes, no leak; the answer times for a foreign and a missing id differ by less than 2 ms",
  holds: (outcome) => isClean(outcome) && outcome.acked >= 2000,
});
