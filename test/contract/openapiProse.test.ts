/** Tests that everything in the OpenAPI document has a description, and every body an example. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { contract, resourceDescriptions } from "../../api/contract/contract.ts";
import { bytes, type OperationSpec } from "../../api/contract/operation.ts";
import { streams } from "../../api/contract/streams.ts";
import { toOpenApi } from "../../api/derive/openapi.ts";
import { EditRequest } from "../../api/schema/article.ts";

interface SchemaNode {
  readonly $ref?: string;
  readonly allOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly description?: string;
  readonly example?: unknown;
}
type Described = Readonly<Record<string, { readonly description?: string; readonly schema?: SchemaNode; readonly example?: unknown }>>;
interface Media {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref?: string }>>;
}
interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name?: string; readonly description?: string; readonly $ref?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly description?: string; readonly headers?: Described; readonly content?: Readonly<Record<string, Media>> }>
  >;
}
interface Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters: Described;
    readonly headers: Described;
    readonly schemas: Readonly<Record<string, SchemaNode>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

const document = toOpenApi(contract, streams, { baseUrl: "http://127.0.0.1:8787", resourceDescriptions }) as unknown as Document;
const { components } = document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

/** Returns the component that a reference names. */
function componentOf(reference: string): SchemaNode | undefined {
  return components.schemas[reference.split("/").at(-1) ?? ""];
}

/** True if the node or its component has a description. */
function isDescribed(node: SchemaNode): boolean {
  const target = node.$ref === undefined ? node : componentOf(node.$ref);
  return (target?.description ?? "").length > 3;
}

/** Text and numbers need an example. The values of an enumeration and of a boolean are known. */
function needsExample(node: SchemaNode): boolean {
  return node.enum === undefined && ["string", "number", "integer"].includes(node.type ?? "");
}

/** Returns what is missing in a schema and in its parts. */
function faultsOf(node: SchemaNode, place: string): string[] {
  return [
    ...Object.entries(node.properties ?? {}).flatMap(([name, property]) => [
      ...(isDescribed(property) ? [] : [`${place}.${name}: no description`]),
      ...(needsExample(property) && property.example === undefined ? [`${place}.${name}: no example`] : []),
      ...faultsOf(property, `${place}.${name}`),
    ]),
    ...[...(node.oneOf ?? []), ...(node.anyOf ?? []), ...(node.allOf ?? [])].flatMap((part, index) => faultsOf(part, `${place}/${index}`)),
    ...(node.items === undefined ? [] : faultsOf(node.items, `${place}[]`)),
  ];
}

/** Returns the examples of a body, including those of its components. */
function examplesOf({ example, examples }: Media): readonly unknown[] {
  if (example !== undefined) return [example];
  return Object.values(examples ?? {}).map(({ $ref }) => components.examples[$ref?.split("/").at(-1) ?? ""]?.value);
}

describe("the OpenAPI document, for its readers", () => {
  it("[API40] every operation has a summary and a description", () => {
    const bare = operations.filter(({ operation }) => !operation.summary || (operation.description ?? "").length < 10);
    expect(bare.map(({ name }) => name)).toEqual([]);
    expect(document.tags.filter(({ description }) => !description)).toEqual([]);
  });

  it("[API40] every parameter and every header has a description", () => {
    const bare = operations.flatMap(({ name, operation }) => [
      ...(operation.parameters ?? []).filter((one) => one.$ref === undefined && !one.description).map((one) => `${name}: ${one.name}`),
      ...Object.entries(operation.responses).flatMap(([status, { headers = {} }]) =>
        Object.entries(headers)
          .filter(([, header]) => !("$ref" in header) && !header.description)
          .map(([header]) => `${name} ${status}: ${header}`),
      ),
    ]);
    const shared = [...Object.entries(components.parameters), ...Object.entries(components.headers)];
    expect(shared.length).toBeGreaterThan(10);
    expect([...bare, ...shared.filter(([, one]) => !one.description).map(([name]) => name)]).toEqual([]);
  });

  it("[API40] every schema and property has a description, and texts and numbers an example", () => {
    const named = Object.entries(components.schemas);
    expect(named.length).toBeGreaterThan(100);
    const bare = named.filter(([, schema]) => !isDescribed(schema)).map(([name]) => `${name}: no description`);
    expect([...bare, ...named.flatMap(([name, schema]) => faultsOf(schema, name))]).toEqual([]);
  });

  it("[API40] every time is described as Unix seconds or as ISO 8601 text", () => {
    const times: string[] = [];
    const walk = (node: SchemaNode, place: string) => {
      for (const [name, property] of Object.entries(node.properties ?? {})) {
        if (/(?:[a-z]At|^validUntil|^nextRetryAt)$/.test(name)) {
          const expected = property.type === "number" ? "Unix seconds" : "ISO 8601";
          times.push(`${place}.${name} ${(property.description ?? "").includes(expected)}`);
        }
        walk(property, `${place}.${name}`);
      }
      for (const part of [...(node.oneOf ?? []), ...(node.anyOf ?? []), ...(node.items ? [node.items] : [])]) walk(part, place);
    };
    for (const [name, schema] of Object.entries(components.schemas)) walk(schema, name);
    expect(times.length).toBeGreaterThan(40);
    expect(times.filter((time) => !time.endsWith(" true"))).toEqual([]);
  });

  it("[API41] every request body has an example that its operation accepts", () => {
    for (const [resource, group] of Object.entries(contract)) {
      for (const [name, spec] of Object.entries(group as Record<string, OperationSpec>)) {
        for (const [mediaType, schema] of Object.entries(spec.bodies ?? {})) {
          // A form has a file, for which there is no example.
          if (schema === bytes || "file" in schema) continue;
          const media = document.paths[spec.path]?.[spec.method.toLowerCase()]?.requestBody?.content[mediaType] ?? {};
          const [example] = examplesOf(media);
          expect(example, `${resource}.${name}`).toBeDefined();
          expect(schema.safeParse(example).error, `${resource}.${name}`).toBeUndefined();
          expect(Object.keys(example as object), `${resource}.${name} shows nothing`).not.toEqual([]);
        }
      }
    }
  });

  it("[API41] every successful answer has an example that matches its schema", () => {
    for (const [resource, group] of Object.entries(contract)) {
      for (const [name, spec] of Object.entries(group as Record<string, OperationSpec>)) {
        for (const [status, reply] of Object.entries(spec.replies)) {
          const content = document.paths[spec.path]?.[spec.method.toLowerCase()]?.responses[status]?.content ?? {};
          const media = reply === null ? {} : reply instanceof z.ZodType ? { "application/json": reply } : reply.media;
          expect(Object.keys(content)).toEqual(Object.keys(media));
          for (const [mediaType, schema] of Object.entries(media)) {
            // JSON cannot show bytes.
            if (schema === bytes && !mediaType.startsWith("text/")) continue;
            const [example] = examplesOf(content[mediaType] ?? {});
            expect(example, `${resource}.${name} ${status} ${mediaType}`).toBeDefined();
            if (schema !== bytes) expect(schema.safeParse(example).error, `${resource}.${name} ${status}`).toBeUndefined();
          }
        }
      }
    }
  });

  it("[API41] every stream has an example event in its wire format", () => {
    for (const [resource, group] of Object.entries(streams)) {
      for (const [name, spec] of Object.entries(group)) {
        const [shown] = examplesOf(document.paths[spec.path]?.get?.responses[200]?.content?.["text/event-stream"] ?? {});
        const data = /^id: (\S+)\nevent: (\S+)\ndata: (.*)\n\n$/.exec(String(shown));
        const event = spec.event.parse(JSON.parse(data?.[3] ?? "null")) as { event: string; id: string; cursor: string };
        expect(data?.[2], `${resource}.${name}`).toBe(event.event);
      }
    }
  });

  it("[API42] an edit has a text or replacements, as its mode says, and the document states it", () => {
    const { oneOf = [] } = components.schemas.EditRequest ?? {};
    const shapes = oneOf.map((shape) => ({
      modes: shape.properties?.mode?.enum,
      required: shape.required?.filter((name) => name !== "mode"),
      has: ["content", "edits"].filter((name) => name in (shape.properties ?? {})),
    }));
    expect(shapes).toEqual([
      { modes: ["replace", "append", "prepend"], required: ["content"], has: ["content"] },
      { modes: ["patch"], required: ["edits"], has: ["edits"] },
    ]);
    const edits = [{ find: "a", replace: "b" }];
    const taken = (body: object) => EditRequest.safeParse(body).success;
    for (const mode of ["replace", "append", "prepend"]) {
      expect([taken({ mode, content: "" }), taken({ mode, edits }), taken({ mode, content: "", edits }), taken({ mode })]).toEqual([
        true,
        false,
        false,
        false,
      ]);
    }
    const mode = "patch";
    expect([taken({ mode, edits }), taken({ mode, content: "" }), taken({ mode, content: "", edits }), taken({ mode })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
