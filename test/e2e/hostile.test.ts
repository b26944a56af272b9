/**
 * Sends hostile input to every operation of the contract, against the real server with real data. Each request gets the
 * right problem and no 5xx, and all readable data stays the same. A foreign id gets the same answer as a missing one.
 * The requests are made from the contract, so new operations are included.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { contract } from "../../api/contract/contract.ts";
import type { OperationSpec, StreamSpec } from "../../api/contract/operation.ts";
import { streams } from "../../api/contract/streams.ts";
import { fieldNames } from "../../api/derive/input.ts";
import { defaultLimits } from "../../api/limits.ts";
import { Problem } from "../../api/schema/error.ts";
import { rawConnection } from "../contract/rawHttp.ts";
import { sampleOf } from "../contract/schemaSample.ts";
import { type Answer, signIn } from "../support/clients.ts";
import { type Ids, idNames, missingIds as missing, readSeededAccount, type SeededAccount, seedAccount } from "../support/seededAccount.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { toPageHeaders } from "../support/webPage.ts";

let server: RunningServer;
let owner: SeededAccount;
let outsider: SeededAccount;

const operations = Object.entries(contract).flatMap(([resource, group]) =>
  Object.entries(group as Record<string, OperationSpec>).map(([name, spec]) => ({ key: `${resource}.${name}`, spec })),
);
type Operation = (typeof operations)[number];
/** The operation needs no credential, so its body must be small. */
const isPublic = ({ spec }: Operation) => spec.credential === "none";
const pageOf = ({ spec }: Operation) => toPageHeaders(spec, server.url);
const writing = operations.filter(({ spec }) => spec.method !== "GET" && spec.method !== "DELETE");

function pathOf({ spec }: Operation, ids: Readonly<Record<string, string>>): string {
  const path = spec.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ""));
  return fieldNames(spec.query).includes("workspaceId") ? `${path}?workspaceId=${ids.workspaceId}` : path;
}

function goodBody({ spec }: Operation, ids: Ids): Record<string, unknown> {
  const schema = spec.bodies?.["application/json"];
  const body = schema instanceof z.ZodType ? (sampleOf(schema) as Record<string, unknown>) : {};
  return "workspaceId" in body ? { ...body, workspaceId: ids.workspaceId } : body;
}

function expectProblem(answer: Answer<unknown>, told: string): Problem {
  const seen = `${told} answered ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
  expect(answer.status, seen).toBeGreaterThanOrEqual(400);
  expect(answer.status, seen).toBeLessThan(500);
  expect(answer.headers.get("content-type"), seen).toBe("application/problem+json");
  const problem = Problem.parse(answer.body);
  expect(problem.status, seen).toBe(answer.status);
  return problem;
}

beforeAll(async () => {
  server = await startServer({ LIMITS: "off", OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8", WEBHOOK_RETRY_SCHEDULE: "3600" });
  const operator = await signIn(server.url, server.operator);
  const password = "an outsider's password";
  await operator.expect(201, "POST", "/accounts", { username: "outsider", password });
  owner = await seedAccount(operator, server.operator.username);
  outsider = await seedAccount(await signIn(server.url, { username: "outsider", password }), "outsider");
});

afterAll(() => server.remove());

describe("bodies", () => {
  const mostGrowthMiB = 64;

  async function unchanged(walk: () => Promise<void>): Promise<void> {
    const before = await readSeededAccount(owner);
    const beforeMiB = server.residentMiB();
    await walk();
    expect(server.residentMiB() - beforeMiB).toBeLessThanOrEqual(mostGrowthMiB);
    expect(await readSeededAccount(owner)).toEqual(before);
    expect(server.logLines.filter((line) => line.level === "error" || line.level === "fatal")).toEqual([]);
  }

  test("[OP17] unknown fields and wrong types are 422 with a pointer, and nothing changes", async () => {
    await unchanged(async () => {
      for (const operation of writing) {
        const path = pathOf(operation, owner.ids);
        const good = goodBody(operation, owner.ids);
        const schema = operation.spec.bodies?.["application/json"];
        const accepts = (body: unknown) => (schema instanceof z.ZodType ? schema.safeParse(body).success : false);
        const hostile: Record<string, unknown>[] = [{ ...good, zzUnknown: 1 }];
        for (const name of schema instanceof z.ZodType ? fieldNames(schema) : []) {
          for (const wrong of [{ a: [] }, [[]], null, 1e308, -1, true, "\u0000", "x".repeat(70_000), ["x".repeat(5000)]]) {
            if (!accepts({ ...good, [name]: wrong })) hostile.push({ ...good, [name]: wrong });
          }
        }
        for (const body of hostile) {
          const problem = expectProblem(await owner.rest.request(operation.spec.method, path, body, pageOf(operation)), operation.key);
          const expected = [422, 404, 401, ...(isPublic(operation) ? [413] : [])];
          expect(expected, `${operation.key} ${JSON.stringify(problem)}`).toContain(problem.status);
          if (problem.status === 422) expect(problem.errors?.length, operation.key).toBeGreaterThan(0);
        }
      }
    });
  });

  test("[OP17] JSON that is invalid, too deep, wide or long, or of another type, is refused first", async () => {
    const bodies: readonly (readonly [string | Uint8Array, string, readonly number[]])[] = [
      ["{", "application/json", [400]],
      [`{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, "application/json", [422]],
      [`{${'"a":{'.repeat(3000)}${"}".repeat(3000)}}`, "application/json", [422]],
      [JSON.stringify(Array.from({ length: 20_000 }, () => 1)), "application/json", [422]],
      [`{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}`, "application/json", [422]],
      [Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d), "application/json", [400]],
      ["a=1", "application/x-www-form-urlencoded", [415]],
      [JSON.stringify({ a: "x".repeat(6 * 1024 * 1024) }), "application/json", [413]],
    ];
    await unchanged(async () => {
      for (const operation of writing) {
        for (const [body, type, statuses] of bodies) {
          const headers = { "content-type": type, ...pageOf(operation) };
          const answer = await owner.rest.request(operation.spec.method, pathOf(operation, owner.ids), body, headers);
          const { status } = expectProblem(answer, `${operation.key} ${type} ${String(body).slice(0, 30)}`);
          const expected = isPublic(operation) && body.length > defaultLimits["body.public"] ? [413] : statuses;
          expect(expected, `${operation.key} ${type} ${String(body).slice(0, 30)}`).toContain(status);
        }
      }
    });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("[OP17] a truncated body changes nothing, and the server continues", async () => {
    await unchanged(async () => {
      for (const operation of writing) {
        const client = await rawConnection(Number(new URL(server.url).port));
        const body = JSON.stringify(goodBody(operation, owner.ids));
        const head = { host: "test", ...owner.rest.headers, "content-type": "application/json", "content-length": String(body.length + 1) };
        const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
        client.write(`${operation.spec.method} ${pathOf(operation, owner.ids)} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
        client.socket.end();
        await client.ended();
      }
    });
  });

  test("[OP17] unusual paths and queries are refused on every operation", async () => {
    await unchanged(async () => {
      for (const operation of operations) {
        const { method } = operation.spec;
        const body = writing.includes(operation) ? goodBody(operation, owner.ids) : undefined;
        for (const id of ["../..", "\u0000", "\ud83d\ude00", "art_", "art_01KAHX0000050123456789ABCD'--", "x".repeat(3000), "__proto__"]) {
          const names = Object.keys(owner.ids);
          const strange = pathOf(operation, Object.fromEntries(names.map((name) => [name, id])));
          if (strange === pathOf(operation, owner.ids)) continue;
          expectProblem(await owner.rest.request(method, strange, body, pageOf(operation)), `${operation.key} ${strange}`);
        }
        const path = pathOf(operation, owner.ids);
        const and = path.includes("?") ? "&" : "?";
        for (const query of ["zzUnknown=1", "__proto__=1", "limit=-1&limit=x", "nextToken=%ff", "a[]=1&a[]=2"]) {
          expectProblem(await owner.rest.request(method, `${path}${and}${query}`, body, pageOf(operation)), `${operation.key} ?${query}`);
        }
      }
    });
  });
});

describe("foreign ids", () => {
  const comparable = (answer: Answer<Record<string, unknown>>) => {
    const { instance: _, requestId: __, ...body } = answer.body;
    return { status: answer.status, body };
  };
  /** Operations on the caller's own account contain none of these ids. */
  const naming = operations.filter(({ spec }) =>
    idNames.some((name) => `${spec.path} ${fieldNames(spec.query)} ${spec.resource?.name}`.includes(name)),
  );

  test("[OP18] a foreign id and a missing id get the same 404 in every place, and nothing changes", async () => {
    const before = await readSeededAccount(owner);
    let probes = 0;
    for (const operation of naming) {
      for (const name of idNames) {
        // First one foreign id among the outsider's own ids, then only foreign ids.
        for (const [foreign, absent] of [
          [
            { ...outsider.ids, [name]: owner.ids[name] },
            { ...outsider.ids, [name]: missing[name] },
          ],
          [owner.ids, missing],
        ] as readonly [Ids, Ids][]) {
          const body = (ids: Ids) => (writing.includes(operation) ? goodBody(operation, ids) : undefined);
          if (
            pathOf(operation, foreign) === pathOf(operation, outsider.ids) &&
            body(foreign)?.workspaceId === body(outsider.ids)?.workspaceId
          )
            continue;
          const ask = (ids: Ids) => outsider.rest.request(operation.spec.method, pathOf(operation, ids), body(ids));
          const [theirs, nobodys] = [await ask(foreign), await ask(absent)];
          const told = `${operation.key} with a foreign ${name}`;
          expect(expectProblem(theirs, told).code, told).toBe("not_found");
          expect(comparable(theirs), told).toEqual(comparable(nobodys));
          probes += 1;
        }
      }
    }
    expect(probes).toBeGreaterThan(naming.length);
    expect(await readSeededAccount(owner)).toEqual(before);
  });

  test("[OP18] foreign and missing ids in queries and bodies, and short ids, get the same answer", async () => {
    const { workspaceId, topicId: ownTopic } = outsider.ids;
    const theirs = owner.ids;
    const before = await readSeededAccount(owner);
    const same = async (ask: (ids: Ids) => Promise<Answer<Record<string, unknown>>>, status: number, told: string) => {
      const [foreign, absent] = [await ask(theirs), await ask(missing)];
      expect(foreign.status, `${told}: ${JSON.stringify(foreign.body)}`).toBe(status);
      const text = (ids: Ids, answer: Answer<Record<string, unknown>>) =>
        JSON.stringify(comparable(answer)).replaceAll(
          new RegExp(
            Object.values(ids)
              .filter((id) => id.length > 20)
              .join("|"),
            "g",
          ),
          "<id>",
        );
      expect(text(theirs, foreign), told).toBe(text(missing, absent));
    };
    const inside = `/workspaces/${workspaceId}`;
    const get = (path: (ids: Ids) => string) => (ids: Ids) => outsider.rest.request("GET", path(ids));
    await same(
      get(({ topicId }) => `${inside}/runs?topicId=${topicId}`),
      200,
      "runs of a topic",
    );
    await same(
      get(({ articleId }) => `${inside}/runs?articleId=${articleId}`),
      200,
      "runs of an article",
    );
    await same(
      get(({ topicId }) => `${inside}/audit?topicId=${topicId}`),
      200,
      "audit of a topic",
    );
    await same(
      get(({ topicId }) => `/articles?workspaceId=${workspaceId}&topicId=${topicId}`),
      200,
      "articles of a topic",
    );
    await same(
      get(({ workspaceId: id }) => `${inside}/topics?contentProjectId=${id}`),
      200,
      "topics of a content project",
    );
    await same(
      get(({ folderId }) => `${inside}/topics?contentProjectId=${folderId}`),
      200,
      "topics of a folder",
    );
    await same(
      get(({ folderId }) => `/folders?workspaceId=${workspaceId}&parentFolderId=${folderId}`),
      200,
      "folders of a folder",
    );
    const inFolder = ({ folderId }: Ids) =>
      outsider.rest.request("POST", "/folders", { workspaceId, name: "Inside", parentFolderId: folderId });
    await same(inFolder, 422, "a folder for a folder");
    const start = (target: (ids: Ids) => object) => (ids: Ids) =>
      outsider.rest.request("POST", "/workflows/draft/runs", { workspaceId, ...target(ids) });
    await same(
      start(({ topicId }) => ({ topicId })),
      422,
      "a run for a topic",
    );
    await same(
      start(({ articleId }) => ({ articleId })),
      422,
      "a run for an article",
    );
    const startIn = ({ folderId }: Ids) => outsider.rest.request("POST", "/workflows/topic_research/runs", { workspaceId, folderId });
    await same(startIn, 422, "a run for a folder");
    const link = ({ articleId }: Ids) => outsider.rest.request("POST", `${inside}/topics/${ownTopic}/article`, { articleId });
    // The outsider's topic has its own article.
    await same(link, 409, "an article for a topic");
    const { topicId: bare } = await outsider.rest.expect(201, "POST", `${inside}/topics`, { title: "Bare", targetAudience: "anybody" });
    await same(({ articleId }) => outsider.rest.request("POST", `${inside}/topics/${bare}/article`, { articleId }), 422, "a bare topic");
    // Short ids are numbers within a workspace: the same number is another topic elsewhere, or none.
    const short = await outsider.rest.expect(200, "GET", `${inside}/topics/T-1`);
    expect(short.topicId).toBe(ownTopic);
    expect((await outsider.rest.request("GET", `/workspaces/${theirs.workspaceId}/topics/T-1`)).status).toBe(404);
    expect(await readSeededAccount(owner)).toEqual(before);
  });

  test("[OP18] streams and tickets for foreign and missing runs and workspaces are refused alike", async () => {
    const specs = Object.entries(streams).flatMap(([resource, group]) =>
      Object.entries(group).map(([name, spec]) => ({ key: `${resource}.${name}`, spec: spec as StreamSpec })),
    );
    for (const { key, spec } of specs) {
      const ask = (ids: Ids) => outsider.rest.request("GET", pathOf({ key, spec: { ...spec, method: "GET" } as never }, ids));
      const [foreign, absent] = [await ask(owner.ids), await ask(missing)];
      expect(expectProblem(foreign, key).code).toBe("not_found");
      expect(comparable(foreign)).toEqual(comparable(absent));
      for (const strange of ["x", "%00", "..%2f..", "\ud83d\ude00", `${owner.ids.runId}:1`]) {
        const names = Object.fromEntries(idNames.map((name) => [name, strange]));
        expectProblem(await ask(names as unknown as Ids), `${key} ${strange}`);
      }
      const own = pathOf({ key, spec: { ...spec, method: "GET" } as never }, outsider.ids);
      for (const query of ["zzUnknown=1", "from=never", "lastEventId=zz", "__proto__=1", "from=%ff", "from=now&from=start"]) {
        expectProblem(await outsider.rest.request("GET", `${own}?${query}`), `${key} ?${query}`);
      }
      const input = (ids: Ids) => encodeURIComponent(JSON.stringify({ workspaceId: ids.workspaceId, runId: ids.runId }));
      const subscribe = async (ids: Ids) => {
        const { body } = await outsider.rest.request<string>("GET", `/trpc/${key}?input=${input(ids)}`);
        const { data } = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? "");
        const { instance: _, requestId: __, ...problem } = data.problem;
        return problem;
      };
      expect((await subscribe(owner.ids)).code, key).toBe("not_found");
      expect(await subscribe(owner.ids), key).toEqual(await subscribe(missing));
    }
    for (const kind of ["run", "workspace", "article"] as const) {
      const ticket = (ids: Ids) => outsider.rest.request("POST", "/auth/stream-ticket", { resource: `${kind}:${ids[`${kind}Id`]}` });
      expect(expectProblem(await ticket(owner.ids), kind).code).toBe("not_found");
      expect(comparable(await ticket(owner.ids))).toEqual(comparable(await ticket(missing)));
    }
  });

  test("[OP18] foreign and missing ids get the same answer over tRPC, alone and in a batch", async () => {
    const trpc = (key: string, spec: OperationSpec, ids: Ids, batch: boolean) => {
      const names = [...fieldNames(spec.params), ...fieldNames(spec.query)].filter((name) => name in ids);
      const input = {
        ...(spec.method === "GET" || spec.method === "DELETE" ? {} : goodBody({ key, spec }, ids)),
        ...Object.fromEntries(names.map((name) => [name, ids[name as keyof Ids]])),
      };
      const query = spec.method === "GET";
      const text = JSON.stringify(batch ? { 0: input } : input);
      const path = `/trpc/${key}${batch ? "?batch=1" : ""}`;
      return query
        ? outsider.rest.request("GET", `${path}${batch ? "&" : "?"}input=${encodeURIComponent(text)}`)
        : outsider.rest.request("POST", path, text, { "content-type": "application/json" });
    };
    const before = await readSeededAccount(owner);
    for (const { key, spec } of naming) {
      for (const batch of [false, true]) {
        const problemOf = async (ids: Ids) => {
          const { body } = await trpc(key, spec, ids, batch);
          const { instance: _, requestId: __, ...problem } = (batch ? body[0] : body).error.data.problem;
          return problem;
        };
        const theirs = await problemOf(owner.ids);
        expect(theirs.code, key).toBe("not_found");
        expect(theirs, key).toEqual(await problemOf(missing));
      }
    }
    expect(await readSeededAccount(owner)).toEqual(before);
  });
});
