/**
 * Accounts, credentials and workspaces put together: who is asking, what they may do, and the services behind the
 * operations about that. How an article finds its workspace, it is told.
 */
import type { Logger } from "pino";
import type { AppContract } from "../api/contract/contract.ts";
import type { Limits } from "../api/limits.ts";
import { createAccountRegistry } from "./accounts/accountRegistry.ts";
import { createAccounts } from "./accounts/accounts.ts";
import { createInstallation, type Installation } from "./accounts/installation.ts";
import { createOwnAccount } from "./accounts/me.ts";
import { installationKey, installationRecord } from "./accounts/records.ts";
import { createSetup } from "./accounts/setup.ts";
import type { ActorRuntime, DueWorker } from "./actors/port.ts";
import type { AccessWatch } from "./auth/accessFacts.ts";
import { createAccessTokens } from "./auth/accessTokens.ts";
import { createApiKeys } from "./auth/apiKeys.ts";
import { createAuthenticator } from "./auth/authenticator.ts";
import { type Credentials, createCredentials } from "./auth/credentials.ts";
import { createKeyCreation } from "./auth/keyCreation.ts";
import { createKeyUse } from "./auth/keyUse.ts";
import { createPasswords } from "./auth/passwords.ts";
import { createRefreshTokens } from "./auth/refreshTokens.ts";
import type { Secrets } from "./auth/secrets.ts";
import { createSessions } from "./auth/sessions.ts";
import { createStreamTickets, type StreamTickets } from "./auth/streamTickets.ts";
import { createWellKnownRoutes } from "./auth/wellKnown.ts";
import type { Handlers } from "./calls/call.ts";
import { createPageTokens } from "./calls/pageToken.ts";
import type { Pager } from "./calls/paging.ts";
import type { AccessResolver, Authenticator } from "./calls/ports.ts";
import { createAccountHandlers } from "./handlers/accounts.ts";
import { createAuthHandlers } from "./handlers/auth.ts";
import { createKeyHandlers } from "./handlers/keys.ts";
import { createMemberHandlers } from "./handlers/members.ts";
import { createWorkspaceHandlers } from "./handlers/workspaces.ts";
import type { Route } from "./host/router.ts";
import type { IdSource } from "./ids.ts";
import { setupRoutes } from "./pages/setup.ts";
import type { Directory } from "./storage/directory.ts";
import type { Storage } from "./storage/port.ts";
import { type AccessResolverOptions, createAccessResolver } from "./workspaces/access.ts";
import { createMembers } from "./workspaces/members.ts";
import { createMemberships } from "./workspaces/memberships.ts";
import { createWorkspaces } from "./workspaces/workspaces.ts";

export interface IdentityOptions {
  readonly storage: Storage;
  readonly actors: ActorRuntime;
  readonly secrets: Secrets;
  readonly limits: Limits;
  readonly log: Logger;
  readonly baseUrl: string;
  readonly leaseMs: number;
  readonly ids: IdSource;
  readonly pager: Pager;
  readonly directory: Directory;
  readonly access: AccessWatch;
  readonly locateArticle: AccessResolverOptions["locateArticle"];
  readonly locateRun: AccessResolverOptions["locateRun"];
}

export interface Identity {
  readonly authenticator: Authenticator;
  readonly accessResolver: AccessResolver;
  readonly credentials: Credentials;
  readonly tickets: StreamTickets;
  readonly handlers: Pick<Handlers<AppContract>, "auth" | "accounts" | "keys" | "workspaces" | "members">;
  readonly routes: readonly Route[];
  /** Kind of due row → its worker. */
  readonly workers: Readonly<Record<string, DueWorker>>;
  readonly prepare: Installation["prepare"];
  hasAccount(): Promise<boolean>;
  /** Nothing of it is under way any more. */
  settled(): Promise<void>;
}

export async function createIdentity(options: IdentityOptions): Promise<Identity> {
  const { storage, actors, secrets, limits, log, baseUrl, leaseMs, ids, pager, directory, access, locateArticle, locateRun } = options;
  const passwords = createPasswords();
  const tokens = await createAccessTokens({ seeds: secrets.jwtSeeds, issuer: baseUrl, lifetimeMs: limits["keep.accessToken"] });
  const credentials = createCredentials({ storage });
  const keyUse = createKeyUse({ storage, log });
  const accessResolver = createAccessResolver({ storage, locateArticle, locateRun });
  const memberships = createMemberships({ storage, leaseMs, log });
  const registry = createAccountRegistry({ storage, directory, access });
  const installation = createInstallation({ storage, accounts: registry, passwords, ids, baseUrl, limits, log });
  const tickets = createStreamTickets({ storage, keys: secrets.ticketKeys, credentials, access: accessResolver });
  const sessions = createSessions({
    storage,
    accounts: registry,
    passwords,
    tokens,
    refreshTokens: createRefreshTokens(secrets.ticketKeys),
    access,
    log,
  });
  return {
    authenticator: createAuthenticator({ storage, directory, tokens, credentials, keyUse }),
    accessResolver,
    credentials,
    tickets,
    handlers: {
      auth: createAuthHandlers({
        sessions,
        setup: createSetup({ storage, accounts: registry, installation, passwords, log }),
        tickets,
        ownAccount: createOwnAccount({ storage, accounts: registry, passwords, log }),
      }),
      accounts: createAccountHandlers({ accounts: createAccounts({ storage, registry, passwords, pager, baseUrl, log }) }),
      keys: createKeyHandlers({
        createKey: createKeyCreation({ storage, actors, directory, resolver: accessResolver, log }),
        keys: createApiKeys({ storage, actors, directory, keyUse, access, pager, log }),
      }),
      workspaces: createWorkspaceHandlers({ workspaces: createWorkspaces({ storage, memberships, pager }) }),
      members: createMemberHandlers({
        members: createMembers({ storage, accounts: registry, memberships, access, pageTokens: createPageTokens(secrets.pageKey), log }),
      }),
    },
    routes: [...setupRoutes, ...createWellKnownRoutes({ tokens, baseUrl })],
    workers: memberships.workers,
    prepare: installation.prepare,
    hasAccount: async () => (await storage.records.get(installationRecord, installationKey))?.value.firstAccountExists === true,
    settled: keyUse.settled,
  };
}
