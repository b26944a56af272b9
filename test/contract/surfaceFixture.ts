/**
 * Runs a whole app over the real host with replaced services. The credential decides the principal and the role. A test
 * can watch or replace the handler of each operation.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, vi } from "vitest";
import { contract } from "../../api/contract/contract.ts";
import { jsonOf, type OperationSpec, type ResourceKind, type Role } from "../../api/contract/operation.ts";
import { defaultLimits, type Limits } from "../../api/limits.ts";
import { AppError } from "../../api/schema/error.ts";
import { exampleId } from "../../api/schema/id.ts";
import type { Scope } from "../../api/scopes.ts";
import type { Call, CallReply, Principal } from "../../server/domain/call/call.ts";
import { type App, type AppOptions, createApp } from "../../server/edge/app.ts";
import type { PreparedRequest } from "../../server/edge/calls/preparedOperation.ts";
import type { AnsweredCall } from "../../server/edge/calls/wrapper.ts";
import type { Host, StartHost } from "../../server/edge/host/port.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { sampleOf } from "./schemaSample.ts";

export const baseUrl = "https://svc.example";
export const workspaceId = "ws_01KAHX0000050123456789ABCD";
export const articleId = "art_01KAHX0000050123456789ABCD";
export const reviewId = "rev_01KAHX0000050123456789ABCD";
export const templateId = "tpl_01KAHX0000050123456789ABCD";
export const runId = "run_01KAHX0000050123456789ABCD";
/** The only resource of each kind. */
const ids: Readonly<Record<ResourceKind, string>> = {
  workspace: workspaceId,
  article: articleId,
  run: runId,
  review: reviewId,
  template: templateId,
  folder: exampleId("fld"),
  job: exampleId("job"),
  webhook: exampleId("whk"),
};
export const foreignWorkspaceId = "ws_01KAHX00000V0123456789ABCD";
const accountId = "usr_01KAHX0000030123456789ABCD";
const workspacePartition = 5;

/** Credentials that the replaced authenticator knows. */
export const credentials = {
  session: { authorization: "Bearer session" },
  operator: { authorization: "Bearer operator" },
  /** Each of these belongs to its own account. All others belong to one account. */
  otherAccounts: [{ authorization: "Bearer other-1" }, { authorization: "Bearer other-2" }] as const,
  fullKey: { "x-api-key": "full" },
  /** `key:<scopes>` has exactly these scopes. */
  key: (...scopes: Scope[]) => ({ "x-api-key": `key:${scopes.join(",")}` }),
  /** `role:<role>` has this role in the workspace. */
  role: (role: Role) => ({ authorization: `Bearer role:${role}` }),
};

export type Serve = (request: PreparedRequest, call: Call) => unknown;

export interface Surface {
  readonly app: App;
  readonly host: Host;
  readonly origin: string;
  readonly storage: Storage;
  readonly answered: AnsweredCall[];
  readonly logged: string[];
  /** Handler of every operation: a spy that answers with a sample of its reply. */
  readonly serve: ReturnType<typeof vi.fn<(key: string, request: PreparedRequest, call: Call) => Promise<unknown>>>;
  /** Replaces the handler of one operation. It resolves with the body, or with a whole `CallReply` made by `reply`. */
  on(key: string, serve: Serve): void;
  fetch(method: string, path: string, init?: { headers?: Record<string, string>; body?: string | Uint8Array }): Promise<Response>;
}

/** Marks a value as a whole reply instead of a body. */
export class Reply {
  readonly reply: CallReply;
  constructor(reply: CallReply) {
    this.reply = reply;
  }
}

/** No limit of a rate, for tests that send many requests. */
export const noRates: Partial<Limits> = Object.fromEntries(
  (["default", "writes", "management", "auth", "runs", "conversions"] as const).map((name) => [`rate.${name}`, "off"]),
);

export interface SurfaceOptions {
  readonly limits?: Partial<Limits>;
  readonly app?: Partial<AppOptions>;
  readonly now?: () => number;
  /** `memory` if absent. */
  readonly store?: "memory" | "embedded";
  /** uWebSockets.js if absent. */
  readonly startHost?: StartHost;
}

function principalOf(name: string, isKey: boolean): Principal {
  const account = { accountId, username: "ana" };
  if (isKey && name === "full") return { kind: "key", ...account, operator: false, keyId: "key_full" };
  if (isKey && name.startsWith("key:")) {
    const scopes = name.slice(4).split(",").filter(Boolean) as Scope[];
    return { kind: "key", ...account, operator: false, keyId: name, scopes };
  }
  if (isKey && name === "revoked") throw new AppError("key_revoked", "This API key was revoked.");
  if (!isKey && (name === "session" || name.startsWith("role:"))) {
    return { kind: "session", ...account, operator: false, sessionId: `ses_${name}` };
  }
  if (!isKey && name === "operator") return { kind: "session", ...account, operator: true, sessionId: "ses_operator" };
  if (!isKey && name.startsWith("other-")) {
    return { kind: "session", accountId: `usr_${name}`, username: name, operator: false, sessionId: `ses_${name}` };
  }
  throw new AppError("unauthenticated", "No such credential.");
}

/** Returns the first reply of the spec, filled with a sample. */
export function sampleReply(spec: OperationSpec): CallReply {
  const [status = "200", reply] = Object.entries(spec.replies)[0] ?? [];
  if (reply === null || reply === undefined) return { status: Number(status) };
  return { status: Number(status), body: sampleOf(jsonOf(reply)?.schema as never) };
}

export function useSurface(options: SurfaceOptions = {}): Surface {
  const replaced = new Map<string, Serve>();
  const serve = vi.fn<(key: string, request: PreparedRequest, call: Call) => Promise<unknown>>(async (key, request, call) => {
    const own = replaced.get(key);
    if (own !== undefined) return own(request, call);
    const [resource = "", name = ""] = key.split(".");
    return new Reply(
      sampleReply((contract as unknown as Record<string, Record<string, OperationSpec>>)[resource]?.[name] as OperationSpec),
    );
  });
  const answered: AnsweredCall[] = [];
  const logged: string[] = [];
  const clock = options.now === undefined ? {} : { now: options.now };
  let directory: string | undefined;
  const surface = {
    answered,
    logged,
    serve,
    on: (key: string, own: Serve) => void replaced.set(key, own),
    fetch: (method: string, path: string, init: { headers?: Record<string, string>; body?: string | Uint8Array } = {}) =>
      fetch(`${surface.origin}${path}`, { method, ...init } as RequestInit),
  } as { -readonly [K in keyof Surface]: Surface[K] };

  beforeAll(async () => {
    if (options.store === "embedded") directory = await mkdtemp(join(tmpdir(), "surface-"));
    const storage = directory === undefined ? createMemoryStorage(clock) : await createLmdbStorage({ directory, ...clock });
    surface.storage = storage;
    const handlers = Object.fromEntries(
      Object.entries(contract).map(([resource, operations]) => [
        resource,
        Object.fromEntries(
          Object.entries(operations as Record<string, OperationSpec>).map(([name, spec]) => [
            name,
            {
              serve: (request: PreparedRequest, call: Call) => serve(`${resource}.${name}`, request, call),
              reply: (value: unknown) =>
                value instanceof Reply
                  ? value.reply
                  : { status: Number(Object.keys(spec.replies)[0]), ...(value === undefined ? {} : { body: value }) },
            },
          ]),
        ),
      ]),
    );
    const app = createApp({
      contract,
      handlers: handlers as never,
      authenticator: {
        authenticate: async ({ apiKey, bearer }) => principalOf(apiKey ?? bearer ?? "", apiKey !== undefined),
      },
      access: {
        async resolve(principal, kind, id) {
          if (id !== ids[kind]) return undefined;
          const role = principal.kind === "session" && principal.sessionId.startsWith("ses_role:") ? principal.sessionId.slice(9) : "owner";
          return { workspaceId, partition: workspacePartition, role: role as Role };
        },
      },
      storage,
      limits: { ...defaultLimits, ...options.limits },
      log: pino({ level: "trace" }, { write: (line: string) => void logged.push(line) }),
      baseUrl,
      node: "node-1",
      leaseMs: 5000,
      corsOrigins: [],
      proxyHops: 0,
      routes: [],
      upgrade: () => ({ refuse: { status: 404, headers: {} } }),
      onAnswered: (call) => void answered.push(call),
      ...options.app,
    });
    surface.app = app;
    surface.host = await (options.startHost ?? startUwsHost)(app, {
      host: "127.0.0.1",
      port: 0,
      maxFrameBytes: 1024,
      maxBufferedBytes: 1024,
      onError: (error) => void logged.push(String(error)),
    });
    surface.origin = `http://127.0.0.1:${surface.host.port}`;
  });
  beforeEach(() => {
    replaced.clear();
    serve.mockClear();
    answered.length = 0;
    logged.length = 0;
  });
  afterAll(async () => {
    await surface.host.close();
    await surface.storage.close();
    if (directory !== undefined) await rm(directory, { recursive: true });
  });
  return surface;
}
