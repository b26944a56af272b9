/** Tests that the OpenAPI document is current and complete. openapiLinters.slow.test.ts lints it. */
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { contract, resourceDescriptions } from "../../api/contract/contract.ts";
import type { OperationSpec } from "../../api/contract/operation.ts";
import { streams } from "../../api/contract/streams.ts";
import { toOpenApi } from "../../api/derive/openapi.ts";
import { baseUrl, useSurface } from "./surfaceFixture.ts";

const document = toOpenApi(contract, streams, { baseUrl: "http://127.0.0.1:8787", resourceDescriptions });
type Operation = {
  operationId: string;
  responses: Record<string, unknown>;
  security: unknown[];
  requestBody?: { content: Record<string, { example?: unknown }> };
};
type Shared = { responses: Record<string, { headers?: object }> };
const paths = document.paths as Record<string, Record<string, Operation>>;

describe("OpenAPI", () => {
  it("[API22] docs/openapi.json agrees with the contract (run vitest with -u after a change)", async () => {
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot("../../docs/openapi.json");
  });

  it("[API22] the document has every operation under its key, with all its answers", () => {
    for (const [resource, group] of Object.entries(contract)) {
      for (const [name, spec] of Object.entries(group as Record<string, OperationSpec>)) {
        const operation = paths[spec.path]?.[spec.method.toLowerCase()];
        expect(operation?.operationId).toBe(`${resource}.${name}`);
        const statuses = [...Object.keys(spec.replies), "400", "401", "403", "404", "413", "422", "429", "500", "503"];
        expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(statuses));
        const usesCookie = spec.webSession === "renew" || spec.webSession === "end";
        expect(operation?.security.length === 0).toBe(spec.credential === "none" && !usesCookie);
      }
    }
  });

  it("[API22] every example is a body that its operation accepts", () => {
    const given = Object.entries(contract).flatMap(([resource, group]) =>
      Object.entries(group as Record<string, OperationSpec>).flatMap(([name, spec]) =>
        spec.example === undefined ? [] : [{ key: `${resource}.${name}`, spec, example: spec.example }],
      ),
    );
    expect(given.length).toBeGreaterThan(10);
    for (const { key, spec, example } of given) {
      const schema = spec.bodies?.["application/json"] as z.ZodType;
      expect(schema.safeParse(example).error, key).toBeUndefined();
      const operation = paths[spec.path]?.[spec.method.toLowerCase()];
      expect(operation?.requestBody?.content["application/json"]?.example, key).toEqual(example);
    }
  });

  it("[API22] headers of requests and answers are documented where they occur", () => {
    const headersOf = (path: string, method: string, status: number) => {
      const response = paths[path]?.[method]?.responses[status] as { headers?: object; $ref?: string };
      const named =
        response.$ref === undefined ? response : (document.components as never as Shared).responses[response.$ref.split("/").at(-1) ?? ""];
      return Object.keys(named?.headers ?? {});
    };
    expect(headersOf("/articles", "post", 201)).toEqual(expect.arrayContaining(["location", "etag", "idempotency-replayed", "ratelimit"]));
    expect(headersOf("/articles", "get", 200)).not.toContain("location");
    expect(headersOf("/articles", "post", 401)).toContain("www-authenticate");
    expect(headersOf("/articles", "post", 507)).toEqual(expect.arrayContaining(["x-request-id", "ratelimit"]));
    for (const status of [429, 503]) expect(headersOf("/articles", "get", status)).toContain("retry-after");
    expect(headersOf("/articles", "post", 422)).not.toContain("idempotency-replayed");
  });

  it("[API28] exactly the GETs that answer an ETag document 304, with its headers and no body", async () => {
    const documented = Object.values(paths).flatMap((path) => Object.values(path).filter(({ responses }) => "304" in responses));
    const tagged = Object.entries(contract).flatMap(([resource, group]) =>
      Object.entries(group as Record<string, OperationSpec>)
        .filter(([, { method, replyHeaders }]) => method === "GET" && replyHeaders?.etag !== undefined)
        .map(([name]) => `${resource}.${name}`),
    );
    expect(tagged.length).toBeGreaterThan(8);
    expect(documented.map(({ operationId }) => operationId).toSorted()).toEqual(tagged.toSorted());
    for (const { responses } of documented) {
      const unchanged = responses["304"] as { headers: object; content?: object };
      expect(Object.keys(unchanged.headers)).toEqual(expect.arrayContaining(["etag", "x-request-id"]));
      expect(unchanged.content).toBeUndefined();
    }
  });

  it("[API22] closed objects are closed, names are components, and every reference resolves", () => {
    const { schemas } = document.components as { schemas: Record<string, { type?: string; additionalProperties?: unknown }> };
    for (const name of ["Article", "Workspace", "CreateWorkspaceRequest", "ApiKey", "Problem"])
      expect(schemas[name]?.additionalProperties, name).toBe(false);
    const references = new Set([...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? ""));
    for (const path of references) {
      const target = path.split("/").reduce((node: unknown, part) => (node as Record<string, unknown> | undefined)?.[part], document);
      expect(target, path).toBeDefined();
    }
  });
});

describe("the served document", () => {
  const surface = useSurface();
  it("[API22] /openapi.json names the server's own address", async () => {
    const response = await surface.fetch("GET", "/openapi.json");
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual(toOpenApi(contract, streams, { baseUrl, resourceDescriptions }));
  });
});
