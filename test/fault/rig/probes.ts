/**
 * Requests for foreign data, derived from the contract: for every operation and stream, with a foreign id in every
 * place of path, query and body. New operations are included automatically. An operation whose path names an id that no
 * seeded account has fails here until the account has it.
 */
import { z } from "zod";
import { contract } from "../../../api/contract/contract.ts";
import type { OperationSpec, StreamSpec } from "../../../api/contract/operation.ts";
import { streams } from "../../../api/contract/streams.ts";
import { fieldNames } from "../../../api/derive/input.ts";
import { sampleOf } from "../../contract/schemaSample.ts";
import { type Ids, idNames } from "../../support/seededAccount.ts";

export interface ProbedOperation {
  readonly key: string;
  readonly spec: OperationSpec;
}

/** The parts that a surface needs to send one request. */
export interface Asked {
  readonly method: OperationSpec["method"];
  readonly path: string;
  readonly body: Record<string, unknown> | undefined;
  /** Input of the procedure: path, query and body together. */
  readonly input: Record<string, unknown>;
}

/** One operation with some ids of a stranger. All other ids are the caller's own. */
export interface Probe {
  readonly operation: ProbedOperation;
  /** The places of the stranger's ids, as text. */
  readonly place: string;
  /** True if the id that decides access is among them. The answer must then be that the resource does not exist. */
  readonly isResource: boolean;
  /** `stranger`: the owner of the ids in the probed places. */
  ask(own: Ids, stranger: Ids): Asked;
}

type Place = { readonly part: "params" | "query" | "body"; readonly name: string };

export const operations: readonly ProbedOperation[] = Object.entries(contract).flatMap(([resource, group]) =>
  Object.entries(group as Record<string, OperationSpec>).map(([name, spec]) => ({ key: `${resource}.${name}`, spec })),
);

export const probedStreams = Object.entries(streams).flatMap(([resource, group]) =>
  Object.entries(group).map(([name, spec]) => ({ key: `${resource}.${name}`, spec: spec as StreamSpec })),
);

/** Ids that every account shares, or that belong to other systems. */
const nobodys = new Set(["workflowId", "artifactKey", "styleProfileId", "externalPublicationId"]);
const looksLikeId = (name: string) => /Ids?$/.test(name) && !nobodys.has(name);

function bodySchema(spec: OperationSpec): z.ZodObject | undefined {
  const schema = spec.bodies?.["application/json"];
  return schema instanceof z.ZodType ? (schema as z.ZodObject) : undefined;
}

/** Names of fields that refer to a resource under another name than its id has. */
const otherNames: Readonly<Record<string, keyof Ids>> = { parentFolderId: "folderId", contentProjectId: "folderId" };

/**
 * Returns an id for a name. A name without its own id, such as one of a resource that cannot be created yet, gets
 * another id of the same owner.
 */
function idFor(ids: Ids, name: string): string {
  return (ids as unknown as Record<string, string>)[otherNames[name] ?? name] ?? ids.workspaceId;
}

function placesOf({ key, spec }: ProbedOperation): readonly Place[] {
  const inPath = fieldNames(spec.params).filter((name) => !nobodys.has(name));
  const unknown = inPath.filter((name) => name !== "username" && !(idNames as readonly string[]).includes(name));
  if (unknown.length > 0) throw new Error(`${key}: no seeded account has a ${unknown.join(", ")} yet`);
  return [
    ...inPath.map((name): Place => ({ part: "params", name })),
    ...fieldNames(spec.query)
      .filter(looksLikeId)
      .map((name): Place => ({ part: "query", name })),
    ...fieldNames(bodySchema(spec))
      .filter(looksLikeId)
      .map((name): Place => ({ part: "body", name })),
  ];
}

const isTaken = (schema: z.ZodObject | undefined, name: string, value: unknown) =>
  (schema?.shape?.[name] as z.ZodType | undefined)?.safeParse(value).success === true;

/** Builds one request with the ids of `own`, except in `places`. Optional places are left out unless they are probed. */
export function toAsked({ spec }: ProbedOperation, own: Ids, stranger: Ids, places: readonly Place[]): Asked {
  const pick = (part: Place["part"], name: string) =>
    idFor(places.some((place) => place.part === part && place.name === name) ? stranger : own, name);
  const params = Object.fromEntries(fieldNames(spec.params).map((name) => [name, pick("params", name)]));
  const path = spec.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const needed = spec.query === undefined ? {} : (sampleOf(spec.query) as Record<string, unknown>);
  const asked = places.filter(({ part }) => part === "query").map(({ name }) => name);
  const query: Record<string, unknown> = { ...needed };
  for (const name of [...Object.keys(needed).filter(looksLikeId), ...asked]) query[name] = pick("query", name);
  const schema = bodySchema(spec);
  const hasBody = spec.method !== "GET" && spec.method !== "DELETE";
  const body: Record<string, unknown> = schema === undefined ? {} : { ...(sampleOf(schema) as object) };
  for (const name of [...Object.keys(body).filter(looksLikeId), ...places.filter(({ part }) => part === "body").map(({ name }) => name)]) {
    const id = pick("body", name);
    body[name] = isTaken(schema, name, [id]) ? [id] : id;
  }
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  return {
    method: spec.method,
    path: search.size === 0 ? path : `${path}?${search}`,
    body: hasBody ? body : undefined,
    input: { ...params, ...query, ...(hasBody ? body : {}) },
  };
}

/** Returns a probe for every single place, and as the last one a probe for all places together. */
export function toProbes(operation: ProbedOperation): readonly Probe[] {
  const places = placesOf(operation);
  const { resource } = operation.spec;
  const sets = places.length > 1 ? [...places.map((place) => [place]), places] : places.map((place) => [place]);
  return sets.map((set) => ({
    operation,
    place: set.map(({ part, name }) => `${part}.${name}`).join(" "),
    isResource: set.some(({ part, name }) => resource?.in === part && resource.name === name),
    ask: (own, stranger) => toAsked(operation, own, stranger, set),
  }));
}
