/**
 * OperationServer serves some operations of the product over a real host. Only the caller is invented: the bearer token is
 * a username, and an API key is `<username>|<scopes>`.
 */
import type { AppContract } from "../../api/contract/contract.ts";
import { AppError } from "../../api/schema/error.ts";
import type { Scope } from "../../api/scopes.ts";
import type { Principal } from "../../server/domain/call/call.ts";
import type { AccessResolver } from "../../server/domain/call/ports.ts";
import { type WorkspaceRecord, workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import { createApp } from "../../server/edge/app.ts";
import { startNodeHost } from "../../server/edge/host/node.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { TestParts } from "./composeParts.ts";

export const workspaceId = "ws_01KAHX0000050123456789ABCD";
export const otherWorkspaceId = "ws_01KAHX0000070123456789ABCD";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  readonly body: any;
}

export interface RequestOptions<Username extends string> {
  readonly as?: Username;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

/** Username → role in the workspace; undefined for an account that is no member. The first one owns both workspaces. */
export type TestAccounts<Username extends string> = Readonly<Record<Username, "owner" | "admin" | "member" | undefined>>;

export interface OperationServerOptions<Username extends string> {
  readonly parts: TestParts;
  readonly contract: Partial<AppContract>;
  readonly handlers: object;
  readonly access: AccessResolver;
  readonly accounts: TestAccounts<Username>;
  readonly settings?: WorkspaceRecord["settings"];
  readonly onError: (error: unknown) => void;
}

const accountIdOf = (username: string) => `usr_01KAHX0000030123456789AB${username.slice(0, 2).toUpperCase()}`;

async function addWorkspaces(storage: Storage, accounts: TestAccounts<string>, settings: WorkspaceRecord["settings"]): Promise<void> {
  const members = Object.entries(accounts).flatMap(([username, role]) =>
    role === undefined ? [] : [{ accountId: accountIdOf(username), username, role }],
  );
  for (const id of [workspaceId, otherWorkspaceId]) {
    if ((await storage.records.get(workspaceRecord, id)) !== undefined) continue;
    const value: WorkspaceRecord = {
      workspaceId: id,
      name: "Works",
      type: "team",
      owner: members[0]?.accountId ?? "",
      members: id === workspaceId ? members : members.slice(0, 1),
      ...(settings === undefined ? {} : { settings }),
      createdAt: 1,
      updatedAt: 1,
    };
    await storage.commit({ partition: partitionOfId(id), records: [{ op: "put", type: workspaceRecord, value, replacing: null }] });
  }
}

export async function startOperationServer<Username extends string>(options: OperationServerOptions<Username>) {
  const { parts, contract, handlers, access, accounts, settings, onError } = options;
  const [first] = Object.keys(accounts) as [Username];
  await addWorkspaces(parts.storage, accounts, settings);
  const app = createApp({
    ...parts,
    contract: contract as never,
    handlers: handlers as never,
    authenticator: {
      async authenticate({ apiKey, bearer }): Promise<Principal> {
        const [username = "", scopes] = (apiKey ?? bearer ?? "").split("|");
        if (!(username in accounts)) throw new AppError("unauthenticated", "No such credential.");
        const account = { accountId: accountIdOf(username), username };
        if (apiKey === undefined) return { kind: "session", ...account, operator: false, sessionId: `ses_${username}` };
        return { kind: "key", ...account, operator: false, keyId: "key_1", scopes: (scopes ?? "").split(",").filter(Boolean) as Scope[] };
      },
    },
    access,
    node: parts.nodeId,
    corsOrigins: [],
    proxyHops: 0,
    routes: [],
    upgrade: () => ({ refuse: { status: 404, headers: {} } }),
  });
  const host = await startNodeHost(app, { host: "127.0.0.1", port: 0, maxFrameBytes: 1024, maxBufferedBytes: 1024, onError });

  /** Returns the raw response, for tests of its bytes and headers. */
  function fetchAs(method: string, path: string, { as = first, key, headers = {} }: RequestOptions<Username> = {}, body?: unknown) {
    return fetch(`http://127.0.0.1:${host.port}${path}`, {
      method,
      headers: {
        ...(key === undefined ? { authorization: `Bearer ${as}` } : { "x-api-key": key }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** `body` is undefined for an empty answer, and a text where the answer is not JSON. */
  async function request(method: string, path: string, body?: unknown, more: RequestOptions<Username> = {}): Promise<Answer> {
    const response = await fetchAs(method, path, more, body);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : isJson ? JSON.parse(text) : text };
  }

  return { fetch: fetchAs, request, close: () => host.close() };
}
