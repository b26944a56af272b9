/**
 * `createRouter` finds the route of a request by its method and path template (`/p/{slug}`).
 *
 * A literal segment has priority over a parameter, and a parameter over a final `*`, which matches the whole rest of a path.
 * Segments are compared undecoded, only parameters are decoded, and trailing slashes are significant. The caller decides
 * the answer if no route matches.
 */
import type { HttpReply, HttpRequest } from "./port.ts";

export type PathParams = Readonly<Record<string, string>>;

/** HTTP route that is not an operation of the contract: a page, a probe or a document. */
export interface Route {
  /** In upper case. A GET route also answers HEAD. */
  readonly method: string;
  readonly path: `/${string}`;
  /** True if pages of every origin may read the answer. Otherwise only the configured origins may. */
  readonly publicCors?: boolean;
  handle(request: HttpRequest, params: PathParams): HttpReply | Promise<HttpReply>;
}

export type RouteMatch<R> =
  | { readonly kind: "found"; readonly route: R; readonly params: PathParams }
  /** The path exists, but not with this method. `allow` lists its methods, with OPTIONS and, next to GET, HEAD. */
  | { readonly kind: "method"; readonly allow: readonly string[]; readonly routes: readonly R[] }
  /** A parameter is not valid percent-encoded UTF-8. */
  | { readonly kind: "malformed" }
  | { readonly kind: "none" };

export interface Router<R> {
  match(method: string, path: string): RouteMatch<R>;
}

interface Node<R> {
  readonly literal: Map<string, Node<R>>;
  parameter?: Node<R>;
  rest?: Node<R>;
  readonly methods: Map<string, { readonly route: R; readonly names: readonly string[] }>;
}

const noParams: PathParams = Object.freeze({});

/** Throws when two routes have the same method and the same shape of path, or when a segment follows a `*`. */
export function createRouter<R extends { readonly method: string; readonly path: string }>(routes: readonly R[]): Router<R> {
  const root = emptyNode<R>();
  const fixed = new Map<string, Node<R>>();
  for (const route of routes) {
    if (route.path.includes("*/")) throw new Error(`a segment follows the * of ${route.path}`);
    let node = root;
    const names: string[] = [];
    for (const segment of route.path.split("/").slice(1)) {
      if (segment === "*") {
        node.rest ??= emptyNode();
        node = node.rest;
      } else if (segment.startsWith("{") && segment.endsWith("}")) {
        names.push(segment.slice(1, -1));
        node.parameter ??= emptyNode();
        node = node.parameter;
      } else {
        const next = node.literal.get(segment) ?? emptyNode<R>();
        node.literal.set(segment, next);
        node = next;
      }
    }
    if (node.methods.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
    node.methods.set(route.method, { route, names });
    if (names.length === 0) fixed.set(route.path, node);
  }

  return {
    match(method, path) {
      const values: string[] = [];
      const node = fixed.get(path) ?? (path.startsWith("/") ? find(root, path, 1, values) : undefined);
      if (node === undefined) return { kind: "none" };
      const served = node.methods.get(method) ?? (method === "HEAD" ? node.methods.get("GET") : undefined);
      if (served === undefined) return { kind: "method", ...allowed(node) };
      const { route, names } = served;
      if (names.length === 0) return { kind: "found", route, params: noParams };
      const params: Record<string, string> = {};
      for (let at = 0; at < names.length; at += 1) {
        const value = decode(values[at] ?? "");
        if (value === undefined) return { kind: "malformed" };
        params[names[at] ?? ""] = value;
      }
      return { kind: "found", route, params };
    },
  };
}

function emptyNode<R>(): Node<R> {
  return { literal: new Map(), methods: new Map() };
}

/** `from` is the index of the next segment, after its slash. An index beyond the end means that no segment is left. */
function find<R>(node: Node<R>, path: string, from: number, values: string[]): Node<R> | undefined {
  if (from > path.length) return node.methods.size > 0 ? node : undefined;
  const slash = path.indexOf("/", from);
  const end = slash === -1 ? path.length : slash;
  const segment = path.slice(from, end);
  const literal = node.literal.get(segment);
  const found = literal === undefined ? undefined : find(literal, path, end + 1, values);
  if (found !== undefined) return found;
  if (node.parameter === undefined || segment === "") return node.rest;
  const mark = values.length;
  values.push(segment);
  const below = find(node.parameter, path, end + 1, values);
  if (below !== undefined) return below;
  values.length = mark;
  return node.rest;
}

function allowed<R>(node: Node<R>): { allow: readonly string[]; routes: readonly R[] } {
  const methods = [...node.methods.keys()];
  if (methods.includes("GET")) methods.push("HEAD");
  return { allow: [...new Set([...methods, "OPTIONS"])].sort(), routes: [...node.methods.values()].map(({ route }) => route) };
}

function decode(segment: string): string | undefined {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
