/** Defines the scopes of the specification (Authentication) and which scope satisfies another one. */
import { z } from "zod";

export const scopeNames = [
  "articles:read",
  "articles:write",
  "reviews:read",
  "reviews:write",
  "workspaces:read",
  "workspaces:write",
  "folders:read",
  "folders:write",
  "templates:read",
  "templates:write",
  "publishing:read",
  "publishing:write",
  "conversions:execute",
  "keys:manage",
] as const;

export const Scope = z.enum(scopeNames).meta({
  id: "Scope",
  description:
    "Scope of an API key. The write scope of a resource includes its read scope. `conversions:execute` is for document conversions, `keys:manage` for API keys.",
});
export type Scope = z.infer<typeof Scope>;

/** The write scope of each read scope. */
const writeScopes: ReadonlyMap<Scope, Scope> = new Map(
  scopeNames.filter((name) => name.endsWith(":read")).map((name) => [name, name.replace(":read", ":write") as Scope]),
);

/** A write scope also satisfies the read scope of its resource. */
export function satisfies(held: readonly Scope[], wanted: Scope): boolean {
  const writeScope = writeScopes.get(wanted);
  return held.includes(wanted) || (writeScope !== undefined && held.includes(writeScope));
}

/**
 * Returns the scopes of `wanted` that `held` lacks. If `held` is `undefined`, the credential has full access and lacks
 * none.
 */
export function missingScopes(held: readonly Scope[] | undefined, wanted: readonly Scope[]): readonly Scope[] {
  return held === undefined ? [] : wanted.filter((scope) => !satisfies(held, scope));
}
