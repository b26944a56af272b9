/**
 * This module composes accounts, credentials and workspaces into the identity service: authentication, access checks,
 * and the services behind the operations on accounts and workspaces.
 *
 * It must not know other resources: the `locators` return the workspace of one of them.
 */
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { provide } from "../../platform/actors/provide.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { Secrets } from "../../platform/secrets.ts";
import type { Directory } from "../../platform/storage/directory.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { PageTokens } from "../call/pageToken.ts";
import type { Pager } from "../call/paging.ts";
import type { AccessResolver, Authenticator } from "../call/ports.ts";
import { type Accounts, createAccounts } from "./accounts/accounts.ts";
import { createInstallation, type Installation } from "./accounts/installation.ts";
import { createOwnAccount, type OwnAccount } from "./accounts/me.ts";
import { createMembers, type Members } from "./accounts/members.ts";
import { createSetup, type Setup } from "./accounts/setup.ts";
import { type AccessTokens, createAccessTokens } from "./auth/accessTokens.ts";
import { apiKeyKind } from "./auth/apiKeyKind.ts";
import { type ApiKeys, createApiKeys } from "./auth/apiKeys.ts";
import { createAuthenticator } from "./auth/authenticator.ts";
import { type Credentials, createCredentials } from "./auth/credentials.ts";
import { type CreateApiKey, createKeyCreation } from "./auth/keyCreation.ts";
import { createKeyUse } from "./auth/keyUse.ts";
import { createPasswords, type Passwords } from "./auth/passwords.ts";
import { createRefreshTokens } from "./auth/refreshTokens.ts";
import { createSessions, type Sessions } from "./auth/sessions.ts";
import { createStreamTickets, type StreamTickets } from "./auth/streamTickets.ts";
import { createWebSessions, type WebSessions } from "./auth/webSessions.ts";
import { type AccountRegistry, createAccountRegistry } from "./registry/accountRegistry.ts";
import { createAccessResolver, type Locators } from "./workspaces/access.ts";
import { createMemberships } from "./workspaces/memberships.ts";
import { createWorkspaces, type Workspaces } from "./workspaces/workspaces.ts";

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
  readonly pageTokens: PageTokens;
  readonly directory: Directory;
  readonly locators: Locators;
  /** Default: hashes with the cost of the product. */
  readonly passwords?: Passwords;
}

export interface Identity {
  readonly authenticator: Authenticator;
  readonly accessResolver: AccessResolver;
  readonly credentials: Credentials;
  readonly tickets: StreamTickets;
  /** The public key set for verifying access tokens. */
  readonly jwks: AccessTokens["jwks"];
  /** The services for the handlers of the edge, in the shape that the handlers expect. */
  readonly services: {
    readonly sessions: Sessions;
    readonly webSessions: WebSessions;
    readonly setup: Setup;
    readonly ownAccount: OwnAccount;
    readonly accounts: Accounts;
    readonly createKey: CreateApiKey;
    readonly keys: ApiKeys;
    readonly workspaces: Workspaces;
    readonly members: Members;
  };
  readonly manifest: Manifest;
  readonly prepare: Installation["prepare"];
  /** Finds an account by username, ignoring case. */
  readonly findAccount: AccountRegistry["find"];
}

export async function createIdentity(options: IdentityOptions): Promise<Identity> {
  const { storage, actors, secrets, limits, log, baseUrl, leaseMs, ids, pager, pageTokens, directory } = options;
  const { passwords = createPasswords(), locators } = options;
  const tokens = await createAccessTokens({ seeds: secrets.jwtSeeds, issuer: baseUrl, lifetimeMs: limits["keep.accessToken"] });
  const credentials = createCredentials({ storage });
  const keyUse = createKeyUse({ storage, log });
  const accessResolver = createAccessResolver({ storage, locators });
  const memberships = createMemberships({ storage, leaseMs, log });
  const registry = createAccountRegistry({ storage, directory });
  const installation = createInstallation({ storage, accounts: registry, passwords, ids, baseUrl, limits, log });
  const tickets = createStreamTickets({ storage, keys: secrets.ticketKeys, credentials, access: accessResolver });
  const sessions = createSessions({
    storage,
    accounts: registry,
    passwords,
    tokens,
    refreshTokens: createRefreshTokens(secrets.ticketKeys),
    log,
  });
  return {
    authenticator: createAuthenticator({ storage, directory, tokens, credentials, keyUse }),
    accessResolver,
    credentials,
    tickets,
    jwks: tokens.jwks,
    services: {
      sessions,
      webSessions: createWebSessions(sessions),
      setup: createSetup({ storage, accounts: registry, installation, passwords, log }),
      ownAccount: createOwnAccount({ storage, accounts: registry, passwords, log }),
      accounts: createAccounts({ storage, registry, passwords, pager, baseUrl, log }),
      createKey: createKeyCreation({ storage, actors, directory, resolver: accessResolver, log }),
      keys: createApiKeys({ storage, actors, directory, keyUse, pager, log }),
      workspaces: createWorkspaces({ storage, memberships, pager }),
      members: createMembers({ storage, accounts: registry, memberships, pageTokens, log }),
    },
    // The close waits for the writes that record the use of keys.
    manifest: { name: "identity", actorKinds: [provide(apiKeyKind, {})], workers: memberships.workers, close: keyUse.settled },
    prepare: installation.prepare,
    findAccount: registry.find,
  };
}
