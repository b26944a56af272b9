/**
 * The import rules of docs/architecture.md.
 *
 * `test/checks/imports.ts` runs them, demands that modules were read at all, and forbids circles between folders.
 * `test/checks/imports.test.ts` plants one violation of each rule and demands that the check reports it.
 */

const tests = "\\.test\\.ts$|^test/|^bench/";
/** The process: it composes the layers and is imported by none. */
const process = "^server/[^/]+\\.ts$";

/** What one domain may import of another: its port, its records, its service, and the facts about access. */
const doors = "^server/domain/(call/|.*/(port|records|service)\\.ts$|identity/(access/|workspaces/access\\.ts$))";

/** `from` may not import `to`; `name` says it in words. */
const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

export default {
  forbidden: [
    forbid("no cycles", "A cycle has no direction.", {}, { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } }),
    forbid("everything resolves", "A missing module is a broken build.", {}, { couldNotResolve: true }),
    forbid("nobody imports test or bench", "They may import anything; nobody imports them.", { pathNot: tests }, { path: tests }),
    forbid(
      "api imports nothing of ours",
      "api says what exists.",
      { path: "^api/", pathNot: tests },
      { path: "^(machines|realtime|server|test|bench)/" },
    ),
    forbid(
      "machines import api/schema",
      "machines say what may happen next.",
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
      "platform imports no domain and no edge",
      "The platform knows no resource.",
      { path: "^server/platform/", pathNot: tests },
      { path: `^server/(domain|edge)/|${process}` },
    ),
    forbid(
      "domain imports no edge",
      "A domain does not know how a call came in.",
      { path: "^server/domain/", pathNot: tests },
      { path: `^server/edge/|${process}` },
    ),
    forbid(
      "edge imports no process",
      "The composition hands the edge what it needs.",
      { path: "^server/edge/", pathNot: tests },
      { path: process },
    ),
    forbid(
      "domains meet at their doors",
      "A domain imports another domain's port, records or service, never its inside.",
      { path: "^server/domain/([^/]+)/", pathNot: tests },
      { path: "^server/domain/", pathNot: `^server/domain/$1/|${doors}` },
    ),
    forbid(
      "handlers never import storage",
      "A handler calls a service.",
      { path: "^server/edge/handlers/" },
      { path: "^server/platform/storage/" },
    ),
    forbid(
      "storage adapters are named in server/store.ts",
      "Only one file and tests know which store it is.",
      { path: "^(server|realtime|api|machines)/", pathNot: `^server/platform/storage/|^server/store\\.ts$|${tests}` },
      { path: "^(server/platform/storage/(memoryStorage\\.ts|lmdb/|redis/)|node_modules/(lmdb|redis)/)" },
    ),
    forbid(
      "host adapters are named in server/edge/host",
      "Only its startHost.ts and tests know which host it is.",
      { pathNot: `^server/edge/host/|${tests}` },
      { path: "^(server/edge/host/(uws|node)\\.ts|node_modules/(uWebSockets\\.js|uws-pack|ws)/)" },
    ),
    forbid(
      "outbound network only in server/platform/outbound",
      "One door to other machines, where every address is checked.",
      { path: "^(api|machines|realtime|server)/", pathNot: `^server/platform/outbound/|^server/edge/host/|${tests}` },
      { path: "^(node:)?(http|https|http2|tls|dns|dgram)(/promises)?$|^node_modules/undici/" },
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|docs|data|coverage)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".mjs", ".js", ".json", ".d.ts"],
    },
    skipAnalysisNotInRules: true,
  },
};
