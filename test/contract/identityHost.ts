/** Serves the identity of a fixture over the real host: requests pass the wrapper and reach the real services. */
import pino from "pino";
import { accounts } from "../../api/contract/accounts.ts";
import { auth } from "../../api/contract/auth.ts";
import { keys } from "../../api/contract/keys.ts";
import { members } from "../../api/contract/members.ts";
import { workspaces } from "../../api/contract/workspaces.ts";
import { type AppOptions, createApp } from "../../server/edge/app.ts";
import { createAccountHandlers } from "../../server/edge/handlers/accounts.ts";
import { createAuthHandlers } from "../../server/edge/handlers/auth.ts";
import { createKeyHandlers } from "../../server/edge/handlers/keys.ts";
import { createMemberHandlers } from "../../server/edge/handlers/members.ts";
import { createSearchHandler } from "../../server/edge/handlers/search.ts";
import { createWorkspaceHandlers } from "../../server/edge/handlers/workspaces.ts";
import type { Host, StartHost } from "../../server/edge/host/port.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { createWellKnownRoutes } from "../../server/edge/pages/wellKnown.ts";
import { type Identity, leaseMs } from "./identityFixture.ts";

export const identityContract = { auth, accounts, keys, workspaces, members };

export interface IdentityHost {
  readonly host: Host;
  /** Lines of the log of requests, and errors of the host. */
  readonly logged: readonly string[];
}

/** The host is uWebSockets.js if absent. */
export async function startIdentityHost(
  identity: Identity,
  { startHost, ...app }: Partial<AppOptions> & { readonly startHost?: StartHost } = {},
): Promise<IdentityHost> {
  const logged: string[] = [];
  const { storage, limits, baseUrl } = identity;
  const served = createApp({
    contract: identityContract as never,
    handlers: {
      auth: createAuthHandlers(identity),
      accounts: createAccountHandlers(identity),
      keys: createKeyHandlers(identity),
      workspaces: { ...createWorkspaceHandlers(identity), search: createSearchHandler(async () => ({ hits: [], state: "ready" })) },
      members: createMemberHandlers(identity),
    } as never,
    authenticator: identity.authenticator,
    access: identity.accessResolver,
    storage,
    limits,
    log: pino({ level: "trace" }, { write: (line: string) => void logged.push(line) }),
    baseUrl,
    node: "node-1",
    leaseMs,
    corsOrigins: [],
    proxyHops: 0,
    routes: createWellKnownRoutes({ jwks: identity.jwks, baseUrl }),
    upgrade: () => ({ refuse: { status: 404, headers: {} } }),
    onAnswered: (call) => void logged.push(JSON.stringify(call)),
    ...app,
  });
  const host = await (startHost ?? startUwsHost)(served, {
    host: "127.0.0.1",
    port: 0,
    maxFrameBytes: 1024,
    maxBufferedBytes: 1024,
    onError: (error) => void logged.push(String(error)),
  });
  return { host, logged };
}
