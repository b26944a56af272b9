/**
 * Defines the import rules of docs/architecture.md.
 *
 * `test/checks/imports.ts` checks them, fails if too few modules were read, and forbids circles between folders.
 * `test/checks/imports.slow.test.ts` plants one violation of each rule and expects the check to report it.
 */

const tests = "\\.test\\.tsx?$|^test/|^bench/";
/** The files of the process. They compose the layers, and no layer imports them. */
const process = "^server/[^/]+\\.ts$";

/** Files of a domain that another domain may import: port, records, service, and access. */
const entryPoints = "^server/domain/(call/|.*/(port|records|service)\\.ts$|identity/(access/|workspaces/access\\.ts$))";

/** Returns a rule: modules that match `from` must not import modules that match `to`. */
const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

export default {
  forbidden: [
    forbid("no cycles", "Modules of a cycle cannot be understood or tested apart.", {}, { circular: true }),
    forbid("everything resolves", "A missing module is a broken build.", {}, { couldNotResolve: true }),
    forbid("no product code imports test or bench", "Tests and benchmarks may import everything.", { pathNot: tests }, { path: tests }),
    forbid(
      "api imports no other layer",
      "api describes what exists.",
      { path: "^api/", pathNot: tests },
      { path: "^(machines|realtime|server|test|bench)/" },
    ),
    forbid(
      "machines import api/schema",
      "machines decide what may happen next.",
      { path: "^machines/", pathNot: tests },
      { path: "^(api/(?!schema/)|realtime/|server/)" },
    ),
    forbid(
      "realtime imports api/schema and machines",
      "realtime keeps documents converging.",
      { path: "^realtime/", pathNot: tests },
      { path: "^(api/(?!schema/)|server/)" },
    ),
    forbid(
      "client imports no layer but api",
      "The client is a package of its own: anybody can install it without the server.",
      { path: "^client/", pathNot: tests },
      { path: "^(machines|realtime|server)/" },
    ),
    forbid(
      "client imports only types of api",
      "The package of the client has no code of the server.",
      { path: "^client/", pathNot: tests },
      { path: "^api/", dependencyTypesNot: ["type-only"] },
    ),
    forbid(
      "web imports client, machines and api",
      "The web app is one more client of the server. It draws machines from their code.",
      { path: "^web/", pathNot: tests },
      { path: "^(realtime|server)/" },
    ),
    forbid(
      "web imports only types of api",
      "The web app has no code of the server.",
      { path: "^web/", pathNot: tests },
      { path: "^api/", dependencyTypesNot: ["type-only"] },
    ),
    forbid(
      "no layer imports web",
      "The server serves the built app as files.",
      { path: "^(api|client|machines|realtime|server)/", pathNot: tests },
      { path: "^web/" },
    ),
    forbid(
      "no layer imports client",
      "A server does not call itself.",
      { path: "^(api|machines|realtime|server)/", pathNot: tests },
      { path: "^client/" },
    ),
    forbid(
      "platform imports no domain and no edge",
      "The platform knows no resource.",
      { path: "^server/platform/", pathNot: tests },
      { path: `^server/(domain|edge)/|${process}` },
    ),
    forbid(
      "domain imports no edge",
      "A domain does not know how a call arrived.",
      { path: "^server/domain/", pathNot: tests },
      { path: `^server/edge/|${process}` },
    ),
    forbid(
      "edge imports no process",
      "The composition passes to the edge what it needs.",
      { path: "^server/edge/", pathNot: tests },
      { path: process },
    ),
    forbid(
      "domains import entry points",
      "A domain imports only the port, records, service or access of another domain.",
      { path: "^server/domain/([^/]+)/", pathNot: tests },
      { path: "^server/domain/", pathNot: `^server/domain/$1/|${entryPoints}` },
    ),
    forbid(
      "handlers never import storage",
      "A handler calls a service.",
      { path: "^server/edge/handlers/" },
      { path: "^server/platform/storage/" },
    ),
    forbid(
      "storage adapters are named in server/store.ts",
      "Only this file and tests choose a store.",
      { path: "^(server|realtime|api|machines)/", pathNot: `^server/platform/storage/|^server/store\\.ts$|${tests}` },
      { path: "^(server/platform/storage/(memoryStorage\\.ts|lmdb/|redis/)|node_modules/(lmdb|redis)/)" },
    ),
    forbid(
      "host adapters are named in server/edge/host",
      "Only its startHost.ts and tests choose a host.",
      { pathNot: `^server/edge/host/|${tests}` },
      { path: "^(server/edge/host/(uws|node)\\.ts|node_modules/(uWebSockets\\.js|uws-pack|ws)/)" },
    ),
    forbid(
      "outbound network only in server/platform/outbound",
      "One folder connects to other machines, because it checks every address.",
      { path: "^(api|machines|realtime|server)/", pathNot: `^server/platform/outbound/|^server/edge/host/|${tests}` },
      { path: "^(node:)?(http|https|http2|tls|dns|dgram)(/promises)?$|^node_modules/undici/" },
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    // The peers of the bench have dependencies of their own.
    exclude: { path: "^(dist|docs|data|coverage|bench/peers)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".tsx", ".mjs", ".js", ".json", ".d.ts"],
    },
    skipAnalysisNotInRules: true,
  },
};
