/**
 * The import table of docs/architecture.md as rules. `test/checks/imports.ts` runs them and demands that
 * modules were seen at all; `test/checks/imports.test.ts` plants one violation of each rule and demands that
 * it is caught.
 */

const tests = "\\.test\\.ts$|^test/|^bench/";
const server = "^server/";
const composition = "^server/(compose|start|main|admin)\\.ts$";
/** Files of the server itself, which put parts together. */
const assembly = "^server/(app|compose|config|identity|start|main|admin)\\.ts$|^server/settings/";

/**
 * What the rest of the server may import of each part: its service file, its ports, its records and what it
 * hands out for others to build on. Everything else of a part is its own.
 */
const open = {
  accounts: ["accountRegistry", "installation", "me", "records", "setup"],
  actors: ["after", "keyedQueue", "port", "together"],
  articles: ["commits", "port", "records", "service", "slug", "titleWords"],
  auth: [
    ...["accessFacts", "authenticator", "credentials", "passwords", "records", "secretHash", "secrets", "sessionEndings"],
    ...["apiKeys", "keyCreation", "sessions", "streamTickets"],
  ],
  calls: [".*"],
  folders: ["records"],
  host: ["port", "router"],
  outbound: ["fetch", "providerRefusal", "publicUrl"],
  pages: [],
  publishing: ["records"],
  runs: ["records", "runView", "runs", "service", "timelineEntry", "timelineRows", "topicRuns"],
  storage: ["port", "recordType", "directory", "storeAddress"],
  topics: ["port", "records", "service"],
  webhooks: ["enqueue"],
  workspaces: ["access", "members", "newWorkspace", "records"],
};

/** `from` may not import `to`; `name` says it in words. */
const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

const partRules = Object.entries(open).map(([part, files]) =>
  forbid(
    `server/${part} is reached through its door`,
    "Other parts import a part's service file or port, never its inside.",
    { path: server, pathNot: `^server/${part}/|${assembly}|${tests}` },
    { path: `^server/${part}/`, ...(files.length > 0 && { pathNot: `^server/${part}/(${[part, ...files].join("|")})\\.ts$` }) },
  ),
);

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
    ...partRules,
    forbid("handlers never import storage", "A handler calls a service.", { path: "^server/handlers/" }, { path: "^server/storage/" }),
    forbid(
      "storage adapters are named in compose",
      "Only the composition and tests know which store it is.",
      { path: "^(server|realtime|api|machines)/", pathNot: `^server/storage/|${composition}|${tests}` },
      { path: "^(server/storage/(memory|lmdb|redis)|node_modules/(lmdb|redis)/)" },
    ),
    forbid(
      "host adapters are named in compose",
      "Only the composition and tests know which host it is.",
      { pathNot: `^server/host/|${composition}|${tests}` },
      { path: "^(server/host/(uws|node)\\.ts|node_modules/(uWebSockets\\.js|uws-pack|ws)/)" },
    ),
    forbid(
      "outbound network only in server/outbound",
      "One door to other machines, where every address is checked.",
      { path: "^(api|machines|realtime|server)/", pathNot: `^server/outbound/|^server/host/|${tests}` },
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
