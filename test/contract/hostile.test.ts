/**
 * Sends hostile input to every operation of the contract. Each request gets the right problem and no 5xx, and the
 * handler is never called. The requests are generated from the contract, so new operations are included.
 */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { contract } from "../../api/contract/contract.ts";
import type { OperationSpec } from "../../api/contract/operation.ts";
import { fieldNames } from "../../api/derive/input.ts";
import { defaultLimits } from "../../api/limits.ts";
import { type ErrorCode, Problem } from "../../api/schema/error.ts";
import { satisfies, scopeNames } from "../../api/scopes.ts";
import { toPageHeaders } from "../support/webPage.ts";
import { rawConnection } from "./rawHttp.ts";
import { sampleOf } from "./schemaSample.ts";
import {
  articleId,
  baseUrl,
  credentials,
  foreignWorkspaceId,
  noRates,
  reviewId,
  runId,
  useSurface,
  workspaceId,
} from "./surfaceFixture.ts";

interface Walked {
  readonly key: string;
  readonly spec: OperationSpec;
  /** Path and query, with sample values for the required parameters. */
  readonly target: string;
}

const topicId = "top_01KAHX0000050123456789ABCD";

const operations: Walked[] = Object.entries(contract).flatMap(([resource, group]) =>
  Object.entries(group as Record<string, OperationSpec>).map(([name, spec]) => {
    const params = (spec.params === undefined ? {} : sampleOf(spec.params)) as Record<string, string>;
    const known: Record<string, string> = { workspaceId, articleId, reviewId, runId, topicId };
    const path = spec.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => known[param] ?? params[param] ?? "");
    const needed = (spec.query === undefined ? {} : sampleOf(spec.query)) as Record<string, unknown>;
    const query = new URLSearchParams(Object.entries(needed).map(([field, value]) => [field, known[field] ?? String(value)]));
    return { key: `${resource}.${name}`, spec, target: query.size === 0 ? path : `${path}?${query}` };
  }),
);
const withBody = operations.filter(({ spec }) => spec.method !== "GET" && spec.method !== "DELETE");
const json = { "content-type": "application/json" };

function credentialOf(spec: OperationSpec): Record<string, string> {
  if (spec.credential === "none") return toPageHeaders(spec, baseUrl);
  return spec.credential === "operator" ? credentials.operator : credentials.session;
}

/** Returns a body that the operation accepts, as a starting point. */
function goodBody(spec: OperationSpec): Record<string, unknown> {
  const schema = spec.bodies?.["application/json"];
  if (!(schema instanceof z.ZodType)) return {};
  const body = sampleOf(schema) as Record<string, unknown>;
  return "workspaceId" in body ? { ...body, workspaceId } : body;
}

describe("hostile input on every operation", () => {
  const surface = useSurface({ limits: noRates });

  async function expectProblem(
    { key, spec, target }: Walked,
    body: string | Uint8Array | undefined,
    codes: readonly ErrorCode[],
    headers: Record<string, string> = json,
  ): Promise<Problem> {
    const response = await surface.fetch(spec.method, target, {
      headers: { ...credentialOf(spec), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const told = `${key} answered ${response.status} ${text.slice(0, 300)}`;
    expect(response.headers.get("content-type"), told).toBe("application/problem+json");
    const problem = Problem.parse(JSON.parse(text));
    expect(codes, told).toContain(problem.code);
    expect(response.status, told).toBeLessThan(500);
    return problem;
  }

  it("[API7] a valid request is accepted, so the following ones are refused only for their fault", async () => {
    for (const { key, spec, target } of operations) {
      const hasBody = withBody.some((other) => other.key === key);
      const response = await surface.fetch(spec.method, target, {
        headers: { ...credentialOf(spec), ...(hasBody ? json : {}) },
        ...(hasBody ? { body: JSON.stringify(goodBody(spec)) } : {}),
      });
      expect(response.ok, `${key} answered ${response.status} ${await response.text()}`).toBe(true);
    }
    expect(surface.serve).toHaveBeenCalledTimes(operations.length);
  });

  it("[API7] an unknown field is 422 unknown_field with its pointer", async () => {
    for (const operation of withBody) {
      const body = JSON.stringify({ ...goodBody(operation.spec), zz_unknown: 1 });
      const problem = await expectProblem(operation, body, ["unknown_field"]);
      expect(problem.errors).toContainEqual({
        pointer: "/zz_unknown",
        code: "unknown_field",
        message: expect.stringMatching(/^is not a known field/),
      });
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API7] a path or query name in the body is reported with its right place", async () => {
    for (const operation of withBody) {
      for (const [part, schema] of [
        ["path", operation.spec.params],
        ["query", operation.spec.query],
      ] as const) {
        const [name] = fieldNames(schema);
        if (name === undefined) continue;
        const problem = await expectProblem(operation, JSON.stringify({ ...goodBody(operation.spec), [name]: "x" }), ["unknown_field"]);
        expect(problem.errors?.[0]).toEqual({
          pointer: `/${name}`,
          code: "unknown_field",
          message: `belongs in the ${part}, not in the body`,
        });
      }
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API7] a member of the wrong type is 422 with a pointer to it", async () => {
    for (const operation of withBody) {
      const schema = operation.spec.bodies?.["application/json"];
      for (const name of schema instanceof z.ZodType ? fieldNames(schema) : []) {
        for (const wrong of [{ nested: [] }, [[1]], null, 1e308]) {
          const good = goodBody(operation.spec);
          if (schema instanceof z.ZodType && schema.safeParse({ ...good, [name]: wrong }).success) continue;
          const problem = await expectProblem(operation, JSON.stringify({ ...good, [name]: wrong }), [
            "validation_failed",
            "unknown_field",
          ]);
          const under = problem.errors?.some(({ pointer }) => pointer === "" || pointer === `/${name}` || pointer.startsWith(`/${name}/`));
          expect(under, `${operation.key} ${name}: ${JSON.stringify(problem.errors)}`).toBe(true);
        }
      }
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API7] a body that is not an object is 422", async () => {
    for (const operation of withBody) {
      for (const body of ["null", "[]", '"text"', "1", "true", "[{}]"]) await expectProblem(operation, body, ["validation_failed"]);
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API8] invalid JSON is 400 malformed_json with its position", async () => {
    const broken = ["{", '{"a":', '{"a":1,}', "{'a':1}", "nul", '{"a":1}}', "[1,2", '{"a":"\u0001"}', "\ufeff{}", "NaN", "{,}"];
    for (const operation of withBody) {
      for (const body of broken) {
        const problem = await expectProblem(operation, body, ["malformed_json"]);
        expect(problem.detail).toMatch(/^The body .* line \d+, column \d+, .* expected\.$/);
      }
      for (const bytes of [
        [0xff, 0xfe],
        [0x7b, 0xc3, 0x28, 0x7d],
        [0xed, 0xa0, 0x80],
      ]) {
        await expectProblem(operation, Uint8Array.from(bytes), ["malformed_json"]);
      }
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API8] a missing required body is 400", async () => {
    for (const operation of withBody.filter(({ spec }) => spec.bodies !== undefined && spec.bodyOptional !== true)) {
      await expectProblem(operation, undefined, ["malformed_json"]);
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API8] a missing or wrong content-type is 415 and names the allowed ones", async () => {
    for (const operation of withBody) {
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin1",
        "",
        "x",
      ]) {
        if (type.startsWith("multipart/") && operation.spec.bodies?.["multipart/form-data"] !== undefined) continue;
        const body = Uint8Array.from(Buffer.from(JSON.stringify(goodBody(operation.spec))));
        const problem = await expectProblem(operation, body, ["unsupported_media_type"], { "content-type": type });
        expect(problem.detail).toMatch(/application\/json|UTF-8/);
      }
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API8] a compressed body is 415, whatever it contains", async () => {
    for (const operation of withBody) {
      const body = gzipSync(JSON.stringify(goodBody(operation.spec)));
      const problem = await expectProblem(operation, body, ["unsupported_media_type"], {
        "content-type": "application/json",
        "content-encoding": "gzip",
      });
      expect(problem.detail).toContain("content-encoding");
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API8] a body above its limit is 413", async () => {
    const large = JSON.stringify({ zz: "x".repeat(6 * 1024 * 1024) });
    for (const operation of withBody) await expectProblem(operation, large, ["payload_too_large"]);
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API9] deep, wide, long and dangerous JSON is refused before any schema reads it", async () => {
    const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
    const bodies = [
      `{"zz":${deep("[", "]", 100_000)}}`,
      `{"zz":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`,
      `{"zz":[${Array.from({ length: 20_000 }, () => "1").join()}]}`,
      JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at]))),
      JSON.stringify({ zz: "x".repeat(300_000) }),
      '{"zz":{"__proto__":{"polluted":true}}}',
      '{"__proto__":{"polluted":true}}',
      '{"zz":"\\ud800"}',
      '{"\\udfff":1}',
    ];
    for (const operation of withBody) {
      for (const body of bodies) {
        const isTooLarge = operation.spec.credential === "none" && body.length > defaultLimits["body.public"];
        await expectProblem(operation, body, [isTooLarge ? "payload_too_large" : "validation_failed"]);
      }
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API9] prototype names and repeated names have no effect", async () => {
    for (const operation of withBody) {
      await expectProblem(operation, '{"constructor":{"prototype":{"polluted":1}},"toString":1,"hasOwnProperty":1}', [
        "unknown_field",
        "validation_failed",
      ]);
      await expectProblem(operation, '{"zz":1,"zz":2}', ["unknown_field", "validation_failed"]);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API10] an unknown, repeated or wrongly typed query parameter is 422, and bad encoding 400", async () => {
    for (const operation of operations) {
      const target = (more: string) => ({
        ...operation,
        target: `${operation.target}${operation.target.includes("?") ? "&" : "?"}${more}`,
      });
      const isWrite = withBody.includes(operation);
      const body = isWrite ? JSON.stringify(goodBody(operation.spec)) : undefined;
      const unknown = await expectProblem(target("zz=1"), body, ["unknown_field"], isWrite ? json : {});
      expect(unknown.errors).toContainEqual({
        pointer: "/zz",
        code: "unknown_field",
        message: expect.stringMatching(/^is not a known parameter/),
      });
      for (const more of ["%zz=1", "a=%ff", "%c3%28=x"]) await expectProblem(target(more), body, ["bad_request"], isWrite ? json : {});
      await expectProblem(target("__proto__=1"), body, ["unknown_field"], isWrite ? json : {});
      for (const name of fieldNames(operation.spec.query)) {
        const wrong = new URLSearchParams([
          [name, "\u0000"],
          [name, "x"],
        ]);
        await expectProblem(target(String(wrong)), body, ["validation_failed"], isWrite ? json : {});
      }
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API8] a truncated body reaches no handler and affects no other request", async () => {
    for (const { spec, target } of withBody) {
      const client = await rawConnection(surface.host.port);
      const headers = Object.entries({ host: "test", ...credentialOf(spec), ...json, "content-length": "1000" });
      client.write(`${spec.method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n{"na`);
      client.socket.end();
      await client.ended();
    }
    expect((await surface.fetch("GET", "/auth/me", { headers: credentials.session })).status).toBe(200);
    expect(surface.serve).toHaveBeenCalledTimes(1);
    expect(surface.logged).toEqual([]);
  });

  it("[API5] a missing id, a foreign id and an id of another kind are 404 before body and query", async () => {
    const foreign: Record<string, readonly string[]> = {
      workspace: [foreignWorkspaceId, articleId, runId, "ws_", "x".repeat(200), "%00", "..%2f..", "T-1"],
      article: ["art_01KAHX00000V0123456789ABCD", workspaceId, topicId, "art_", "%F0%9F%98%80"],
      review: ["rev_01KAHX00000V0123456789ABCD", "rev_01kahx0000050123456789abcd", articleId, "rev_", "%00"],
      run: ["run_01KAHX00000V0123456789ABCD", "run_01kahx0000050123456789abcd", workspaceId, topicId, articleId, "run_", `${runId}:1`],
    };
    let probes = 0;
    for (const operation of operations) {
      const { resource } = operation.spec;
      if (resource?.in !== "params") continue;
      const own = { workspaceId, articleId, reviewId, runId }[resource.name] ?? "";
      for (const id of foreign[resource.kind] ?? []) {
        const isWrite = withBody.includes(operation);
        const problem = await expectProblem(
          { ...operation, target: `${operation.target.replace(own, id)}${operation.target.includes("?") ? "&" : "?"}zz=1` },
          isWrite ? JSON.stringify({ zz_unknown: 1 }) : undefined,
          ["not_found"],
          isWrite ? json : {},
        );
        expect(problem.status).toBe(404);
        probes += 1;
      }
    }
    expect(probes).toBeGreaterThan(200);
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API5] malformed topic ids, short ids, approval ids and artifact keys are 404", async () => {
    const impossible: Record<string, readonly string[]> = {
      topicId: ["top_", "t-1", "T-0", "T-01", "T-1e3", "T--1", "T-9999999999999999", articleId, runId, "%00", "T-1%20"],
      approvalId: ["apr_", runId, "%00"],
      artifactKey: ["-x", ".x", "%2e%2e%2fx", "x".repeat(129), "%00"],
    };
    for (const operation of operations) {
      for (const [name, ids] of Object.entries(impossible)) {
        if (!operation.spec.path.includes(`{${name}}`)) continue;
        const params = operation.spec.params === undefined ? {} : (sampleOf(operation.spec.params) as Record<string, string>);
        const own = name === "topicId" ? topicId : (params[name] ?? "");
        expect(operation.target, name).toContain(own);
        for (const id of ids) {
          const isWrite = withBody.includes(operation);
          const body = isWrite ? JSON.stringify(goodBody(operation.spec)) : undefined;
          await expectProblem({ ...operation, target: operation.target.replace(own, id) }, body, ["not_found"], isWrite ? json : {});
        }
      }
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API3] without a credential, every operation that needs one is 401, whatever else is wrong", async () => {
    for (const { key, spec, target } of operations.filter((operation) => operation.spec.credential !== "none")) {
      const response = await surface.fetch(spec.method, `${target}?zz=%ff`, spec.method === "GET" ? {} : { body: "{" });
      expect(response.status, key).toBe(401);
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API4] a key with every scope except the required ones is refused, on every operation", async () => {
    for (const { key, spec, target } of operations.filter((operation) => operation.spec.scopes !== undefined)) {
      const others = scopeNames.filter((held) => spec.scopes?.every((wanted) => !satisfies([held], wanted)));
      const response = await surface.fetch(spec.method, target, {
        headers: { ...credentials.key(...others), ...json },
        ...(spec.method === "GET" ? {} : { body: "{}" }),
      });
      expect([response.status, (await response.json()).missingScopes], key).toEqual([403, spec.scopes]);
    }
    expect(surface.serve).not.toHaveBeenCalled();
  });
});
