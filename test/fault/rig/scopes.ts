/**
 * A key can do exactly what its scopes allow. A key with each single scope is tried at every operation over REST and
 * tRPC, at every stream and at a socket, at alternating nodes. Then keys try to create keys that can do more than
 * themselves.
 */
import * as encoding from "lib0/encoding";
import { WebSocket } from "ws";
import type { OperationSpec } from "../../../api/contract/operation.ts";
import { defaultLimits } from "../../../api/limits.ts";
import { missingScopes, type Scope, scopeNames } from "../../../api/scopes.ts";
import { createRest, type Rest, signIn } from "../../support/clients.ts";
import { updateFrame, updateOf } from "../../support/hostileFrames.ts";
import { missingIds } from "../../support/seededAccount.ts";
import { operations, probedStreams, toAsked } from "./probes.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";

interface Scale {
  /** Number of rounds. In each round the nodes get other scopes. */
  readonly rounds: number;
}

type Problem = { readonly code?: string; readonly missingScopes?: readonly string[] };

const asked = operations.filter(({ spec }) => spec.credential !== "none");
const batchCalls = defaultLimits["batch.calls"];
const hourMs = 60 * 60 * 1000;

/** Returns the missing scopes that the refusal must name; undefined if the key has all of them. */
function refusalOf(spec: Pick<OperationSpec, "scopes">, held: readonly Scope[]): readonly Scope[] | undefined {
  const missing = missingScopes(held, spec.scopes ?? []);
  return missing.length === 0 ? undefined : missing;
}

async function play(rig: Rig, scale: Scale, tell: (what: string) => void) {
  const [first] = rig.nodes;
  if (first === undefined) throw new Error("the rig has no node");
  const session = await signIn(first.url, first.server.operator);
  let [count, bad] = [0, 0];
  const fault = (what: string) => {
    bad += 1;
    tell(what);
  };
  const newKey = async (what: object): Promise<Record<string, string>> => {
    const { key } = await session.expect(201, "POST", "/api-keys", { name: "Of the scopes", ...what });
    return { "x-api-key": key };
  };

  for (const { key, spec } of asked) {
    const isPersonal = spec.resource === undefined;
    if (!isPersonal && (spec.scopes ?? []).length === 0) fault(`${key} is about a workspace and needs no scope`);
    // A read scope must not be enough for an operation that writes.
    if (spec.method !== "GET" && !isPersonal && spec.scopes?.every((scope) => scope.endsWith(":read")))
      fault(`${key} writes and needs no scope to write`);
  }

  function judge(what: string, spec: OperationSpec, held: readonly Scope[], status: number, problem: Problem): void {
    count += 1;
    if (status >= 500) fault(`${what}: ${status} ${JSON.stringify(problem)}`);
    if (spec.credential !== "any" && status !== 403) fault(`${what} with a key: ${status} ${JSON.stringify(problem)}`);
    if (spec.credential !== "any") return;
    const missing = refusalOf(spec, held);
    if (missing === undefined && spec.scopes !== undefined && problem.code === "insufficient_scope") fault(`${what}: refused`);
    if (missing === undefined) return;
    const isRefused = status === 403 && problem.code === "insufficient_scope" && String(problem.missingScopes) === String(missing);
    if (!isRefused) fault(`${what}: ${status} ${JSON.stringify(problem)}`);
  }

  async function atOperations(rest: Rest, scope: Scope): Promise<void> {
    for (const operation of asked) {
      const { method, path, body } = toAsked(operation, missingIds, missingIds, []);
      const answer = await rest.request(method, path, body);
      judge(`${operation.key} with ${scope}`, operation.spec, [scope], answer.status, answer.body);
    }
    for (let first = 0; first < asked.length; first += batchCalls) {
      const some = asked.slice(first, first + batchCalls);
      const inputs = some.map((operation) => toAsked(operation, missingIds, missingIds, []).input);
      const batch = await rest.request("POST", `/trpc/${some.map(({ key }) => key).join(",")}?batch=1`, { ...inputs });
      for (const [at, { key, spec }] of some.entries()) {
        const { error } = batch.body[at];
        judge(`${key} with ${scope} over tRPC`, spec, [scope], error?.data.httpStatus ?? 200, error?.data.problem ?? {});
      }
    }
    for (const { key, spec } of probedStreams) {
      const { path, input } = toAsked({ key, spec: { ...spec, method: "GET" } as never }, missingIds, missingIds, []);
      const like = { ...spec, credential: "any" } as unknown as OperationSpec;
      const answer = await rest.request("GET", path);
      judge(`the stream ${key} with ${scope}`, like, [scope], answer.status, answer.body);
      const told = await rest.request<string>("GET", `/trpc/${key}?input=${encodeURIComponent(JSON.stringify(input))}`);
      const { problem } = JSON.parse(/^data: (.*)$/m.exec(told.body)?.[1] ?? "").data;
      judge(`the stream ${key} with ${scope} over tRPC`, like, [scope], problem.status, problem);
    }
  }

  /** Writes as soon as the socket is open and returns whether it was admitted. */
  function atSocket(rest: Rest, articleId: string, credential: { readonly ticket?: string }): Promise<"in" | number> {
    return new Promise((resolve, reject) => {
      const query = credential.ticket === undefined ? "" : `?ticket=${credential.ticket}`;
      const headers = credential.ticket === undefined ? rest.headers : {};
      const socket = new WebSocket(`${rest.url.replace("http", "ws")}/collab/${articleId}${query}`, { headers });
      socket.on("error", reject);
      socket.on("open", () => {
        socket.send(updateFrame(updateOf((document) => document.getText("content.md").insert(0, "Written by socket."))));
        socket.send(
          encoding.encode((encoder) => {
            encoding.writeVarUint(encoder, 0);
            encoding.writeVarUint(encoder, 0);
            encoding.writeVarUint8Array(encoder, Uint8Array.of(0));
          }),
        );
      });
      // The answer to the question comes after the update was accepted or ignored.
      socket.on("message", (data: Buffer) => {
        if (data[0] !== 0 || data[1] !== 1) return;
        resolve("in");
        socket.close();
      });
      socket.on("close", (code) => resolve(code));
    });
  }

  async function atSockets(rest: Rest, scope: Scope): Promise<void> {
    const { workspaceId } = rig;
    const { articleId } = await session.expect(201, "POST", "/articles", { workspaceId, title: `For ${scope}` });
    const resource = `article:${articleId}`;
    const ticket = await rest.request("POST", "/auth/stream-ticket", { resource });
    const mayRead = refusalOf({ scopes: ["articles:read"] }, [scope]) === undefined;
    const entries = [await atSocket(rest, articleId, {})];
    if (ticket.status === 201) entries.push(await atSocket(rest, articleId, { ticket: ticket.body.ticket }));
    count += 2 + entries.length;
    if ((ticket.status === 201) !== mayRead) fault(`a ticket for an article with ${scope}: ${ticket.status}`);
    for (const entry of entries) if (entry !== (mayRead ? "in" : 4403)) fault(`a socket with ${scope}: ${entry}`);
    const { content } = await session.expect(200, "GET", `/articles/${articleId}/content`);
    if ((content !== "") !== (scope === "articles:write")) fault(`a socket with ${scope} left ${JSON.stringify(content)}`);
  }

  /** Tries to create keys with more rights than the parent key has. */
  async function escalate(rest: (headers: Record<string, string>) => Rest): Promise<void> {
    const { workspaceId } = rig;
    const { workspaceId: otherId } = await session.expect(201, "POST", "/workspaces", { name: "Another", type: "team" });
    const expiresAt = new Date(Date.now() + hourMs).toISOString();
    const held: readonly Scope[] = ["articles:read", "keys:manage"];
    const parents = [
      { what: {}, scopes: scopeNames },
      { what: { scopes: held }, scopes: held },
      { what: { scopes: held, workspaceIds: [workspaceId], expiresAt }, scopes: held },
    ];
    const within = { workspaceIds: [workspaceId], expiresAt };
    const scopesGiven: readonly unknown[] = [
      ...[undefined, null, [], [""], [null], [[]], {}, 0, 1, true, "", "*", ["*"], "articles:read", "keys:manage"],
      ...[["articles:read", null], ["articles:read", undefined], [["articles:read"]], [["keys:manage"]], { 0: "articles:read", length: 1 }],
      ...[{ 0: "keys:manage", length: 1 }, { "articles:read": true }, ["ARTICLES:READ"], ["articles:read "], ["keys:manage\u0000"]],
      ...[
        ["articles:*"],
        ["__proto__"],
        ["constructor"],
        ["keys:manage"],
        ["articles:read", "keys:manage"],
        ["keys:manage", "keys:manage"],
      ],
      ...[["articles:write"], ["articles:read", "articles:write"], [...scopeNames], ["articles:read"], ["articles:read", "articles:read"]],
      Array.from({ length: 100 }, () => "articles:read"),
      [...Array.from({ length: 99 }, () => "articles:read"), "keys:manage"],
      Array.from({ length: 101 }, () => "articles:read"),
    ];
    const fieldsGiven: readonly object[] = [
      {},
      within,
      { ...within, workspaceIds: undefined },
      ...[null, [], [otherId], [workspaceId, otherId], [[workspaceId]], workspaceId, ["*"], { 0: workspaceId, length: 1 }].map(
        (workspaceIds) => ({ ...within, workspaceIds }),
      ),
      ...[
        undefined,
        null,
        "",
        "never",
        0,
        new Date(Date.now() + 2 * hourMs).toISOString(),
        "9999-12-31T23:59:59.999Z",
        "1970-01-01T00:00:00Z",
      ].map((latest) => ({ ...within, expiresAt: latest })),
    ];
    const plain = { name: "Escalated" };
    const bodies: readonly string[] = [
      ...scopesGiven.map((scopes) => JSON.stringify({ ...plain, ...within, scopes })),
      ...fieldsGiven.map((fields) => JSON.stringify({ ...plain, scopes: ["articles:read"], ...fields })),
      ...[
        '"scopes":["articles:read"],"scopes":["keys:manage"]',
        '"scopes":["keys:manage"],"scopes":["articles:read"]',
        '"\\u0073copes":["keys:manage"]',
        '"Scopes":["articles:read"]',
        '"scopes":["articles:read"],"__proto__":{"scopes":["keys:manage"]}',
        '"scopes":["articles:read"],"constructor":{"prototype":{}}',
        '"scopes":["articles:read"],"keyScopes":["keys:manage"]',
        '"scopes":["articles:read"],"operator":true',
      ].map((members) => `{"name":"Escalated","workspaceIds":["${workspaceId}"],"expiresAt":"${expiresAt}",${members}}`),
    ];
    for (const parent of parents) {
      const mother = rest(await newKey(parent.what));
      const made: { readonly keyId: string; readonly key: string }[] = [];
      for (const [at, body] of bodies.entries()) {
        for (const isTrpc of [false, true]) {
          count += 1;
          const type = { "content-type": "application/json", "idempotency-key": `escalation ${at}` };
          const answer = await mother.request(
            "POST",
            isTrpc ? "/trpc/keys.create" : "/api-keys",
            body,
            isTrpc ? { "content-type": type["content-type"] } : type,
          );
          if (answer.status >= 500) fault(`${body.slice(0, 300)}: ${answer.status}`);
          if (answer.status < 300) made.push(isTrpc ? answer.body.result.data : answer.body);
        }
      }
      if (made.length === 0) fault("a key that may make keys made none");
      for (const { keyId, key } of made) {
        const self = await rest({ "x-api-key": key }).expect(200, "GET", "/api-keys/self");
        const { what } = parent as { what: { workspaceIds?: unknown } };
        const isMore =
          !Array.isArray(self.scopes) ||
          self.scopes.length === 0 ||
          self.scopes.includes("keys:manage") ||
          missingScopes(parent.scopes, self.scopes).length > 0 ||
          (what.workspaceIds !== undefined &&
            (String(self.workspaceIds) !== workspaceId || !(Date.parse(self.expiresAt) <= Date.parse(expiresAt))));
        if (isMore) fault(`a key with ${JSON.stringify(parent.what)} made ${JSON.stringify(self)}`);
        await session.expect(200, "POST", `/api-keys/${keyId}/revoke`);
      }
      // A key also gets no more rights by changing itself, or by repeating a person's request.
      const { keyId: motherId } = await mother.expect(200, "GET", "/api-keys/self");
      for (const change of [{ scopes: [...scopeNames] }, { workspaceIds: [otherId] }, { expiresAt: null }, { state: "active" }]) {
        count += 1;
        const { status } = await mother.request("PATCH", `/api-keys/${motherId}`, change);
        if (status !== 422) fault(`a key changed itself by ${JSON.stringify(change)}: ${status}`);
      }
      const wide = { name: "A person's", scopes: ["articles:read", "keys:manage"] };
      const once = { "idempotency-key": `a person's ${motherId}` };
      const { keyId } = await session.expect(201, "POST", "/api-keys", wide, once);
      const repeat = await mother.request("POST", "/api-keys", wide, once);
      count += 1;
      if (repeat.body.code !== "interactive_session_required") fault(`a key was given a person's answer: ${repeat.status}`);
      await session.expect(200, "POST", `/api-keys/${keyId}/revoke`);
    }
    // A key without keys:manage can revoke no key but itself.
    const bystander = await session.expect(201, "POST", "/api-keys", { name: "Bystander", scopes: ["articles:read"] });
    const full = scopeNames.filter((scope) => scope !== "keys:manage");
    const stranger = rest(await newKey({ scopes: full }));
    const refused = await stranger.request("POST", `/api-keys/${bystander.keyId}/revoke`);
    count += 1;
    if (refused.body.code !== "insufficient_scope") fault(`a key ended another: ${refused.status}`);
    await rest({ "x-api-key": bystander.key }).expect(200, "GET", "/api-keys/self");
  }

  for (let round = 0; round < scale.rounds; round += 1) {
    for (const [at, scope] of scopeNames.entries()) {
      const rest = createRest(rig.rest(at + round).url, await newKey({ scopes: [scope] }));
      await atOperations(rest, scope);
      await atSockets(rest, scope);
    }
  }
  await escalate((headers) => createRest(rig.rest(rig.nodes.length - 1).url, headers));

  return {
    load: `${scopeNames.length} scopes at ${asked.length} operations and ${probedStreams.length} streams; keys that make keys`,
    faults: "operations that the scopes do not allow",
    bad,
    acked: count,
    lost: 0,
    dup: 0,
    p50: 0,
    p99: 0,
  };
}

export const scopes = createScenario<Scale>({
  name: "scopes",
  modes: ["E", "R"],
  short: { rounds: 1 },
  full: { rounds: 4 },
  rig: { settings: { BASE_URL: "http://127.0.0.1:8787", OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8", WEBHOOK_RETRY_SCHEDULE: "3600" } },
  play,
  figure: "no key gets more rights than its scopes give",
  holds: (outcome) => isClean(outcome) && outcome.acked >= 2000,
});
