/**
 * Creates identity as a server has it, on a store with a manual clock. All services are wired as in the product, and
 * calls are made in the way the wrapper makes them.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import pino from "pino";
import { defaultLimits, type Limits } from "../../api/limits.ts";
import type { AppError } from "../../api/schema/error.ts";
import type { Call, Principal } from "../../server/domain/call/call.ts";
import { createPageTokens } from "../../server/domain/call/pageToken.ts";
import { createPager } from "../../server/domain/call/paging.ts";
import { type AccessFact, createAccessWatch } from "../../server/domain/identity/access/accessFacts.ts";
import { authRecordTypes } from "../../server/domain/identity/access/credentialRecords.ts";
import { createAccounts } from "../../server/domain/identity/accounts/accounts.ts";
import { createInstallation } from "../../server/domain/identity/accounts/installation.ts";
import { createOwnAccount } from "../../server/domain/identity/accounts/me.ts";
import { createMembers } from "../../server/domain/identity/accounts/members.ts";
import { createPasswordReset } from "../../server/domain/identity/accounts/passwordReset.ts";
import { createSetup } from "../../server/domain/identity/accounts/setup.ts";
import { createAccessTokens } from "../../server/domain/identity/auth/accessTokens.ts";
import { apiKeyKind } from "../../server/domain/identity/auth/apiKeyKind.ts";
import { createApiKeys } from "../../server/domain/identity/auth/apiKeys.ts";
import { createAuthenticator } from "../../server/domain/identity/auth/authenticator.ts";
import { createCredentials } from "../../server/domain/identity/auth/credentials.ts";
import { createKeyCreation } from "../../server/domain/identity/auth/keyCreation.ts";
import { createKeyUse } from "../../server/domain/identity/auth/keyUse.ts";
import { createPasswords } from "../../server/domain/identity/auth/passwords.ts";
import { createRefreshTokens } from "../../server/domain/identity/auth/refreshTokens.ts";
import { createSessions } from "../../server/domain/identity/auth/sessions.ts";
import { createStreamTickets } from "../../server/domain/identity/auth/streamTickets.ts";
import { accountRecordTypes } from "../../server/domain/identity/registry/accountRecords.ts";
import { createAccountRegistry } from "../../server/domain/identity/registry/accountRegistry.ts";
import { createAccessResolver, type LocateArticle } from "../../server/domain/identity/workspaces/access.ts";
import { createMemberships } from "../../server/domain/identity/workspaces/memberships.ts";
import { workspaceRecordTypes } from "../../server/domain/identity/workspaces/records.ts";
import { createWorkspaces } from "../../server/domain/identity/workspaces/workspaces.ts";
import { createDuePump } from "../../server/platform/actors/due.ts";
import { createActorRuntime } from "../../server/platform/actors/runtime.ts";
import { deriveSecrets } from "../../server/platform/secrets.ts";
import { createDirectory, directoryRow } from "../../server/platform/storage/directory.ts";
import { createIds } from "../../server/platform/storage/ids.ts";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";

export const baseUrl = "https://content.example";
export const recordTypes = [directoryRow, ...accountRecordTypes, ...authRecordTypes, ...workspaceRecordTypes];
export const leaseMs = 5000;

export interface HeldClock {
  nowMs: number;
}

export interface Store {
  readonly storage: Storage;
  readonly clock: HeldClock;
  /** All bytes in the store, as text (binary as Latin-1). */
  contents(): Promise<string>;
  /** Closes and reopens the store, as a restart does. A memory store stays as it is. */
  reopen(): Promise<Storage>;
  close(): Promise<void>;
}

const startMs = 1_800_000_000_000;

async function openMemory(): Promise<Store> {
  const clock = { nowMs: startMs };
  const storage = createMemoryStorage({ now: () => clock.nowMs, recordTypes: recordTypes as never });
  return {
    storage,
    clock,
    async contents() {
      const parts: string[] = [];
      for (const type of recordTypes) {
        for (let partition = 0; partition < 64; partition += 1) {
          for await (const stored of storage.records.scan(type as never, partition)) parts.push(JSON.stringify(stored));
        }
      }
      for (let partition = 0; partition < 64; partition += 1) {
        const read = await storage.log.read({ partition, log: "access", after: 0, limit: 10_000 });
        if (!read.gap) for (const entry of read.entries) parts.push(Buffer.from(entry.bytes).toString());
      }
      return parts.join("\n");
    },
    reopen: async () => storage,
    close: () => storage.close(),
  };
}

async function openLmdb(): Promise<Store> {
  const clock = { nowMs: startMs };
  const directory = await mkdtemp(join(tmpdir(), "identity-"));
  const open = () => createLmdbStorage({ directory, now: () => clock.nowMs, recordTypes: recordTypes as never });
  let storage = await open();
  return {
    get storage() {
      return storage;
    },
    clock,
    async contents() {
      const files = await readdir(directory, { recursive: true, withFileTypes: true });
      const texts = files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "latin1"));
      return (await Promise.all(texts)).join("\n");
    },
    async reopen() {
      await storage.close();
      storage = await open();
      return storage;
    },
    async close() {
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export const stores: readonly [name: string, open: () => Promise<Store>][] = [
  ["memory", openMemory],
  ["embedded", openLmdb],
];

const masterKey = Buffer.alloc(32, 7);

export interface IdentityOptions {
  readonly limits?: Partial<Limits>;
  readonly locateArticle?: LocateArticle;
  /** Wraps the store before the services receive it. */
  readonly around?: (storage: Storage) => Storage;
  readonly keys?: readonly Uint8Array[];
}

/** Creates all services of identity, wired as in a server. */
export async function createIdentity(store: Pick<Store, "clock" | "storage">, options: IdentityOptions = {}) {
  const { clock } = store;
  const storage = options.around?.(store.storage) ?? store.storage;
  const limits: Limits = { ...defaultLimits, ...options.limits };
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const log = pino({ level: "trace" }, sink);
  const secrets = deriveSecrets(options.keys ?? [masterKey]);
  const directory = createDirectory(storage);
  const access = createAccessWatch({ storage, log, pollMs: 20 });
  const facts: AccessFact[] = [];
  access.subscribe((fact) => facts.push(fact));
  const pump = createDuePump({ storage, log, leaseMs });
  const actors = createActorRuntime({ storage, pump, log, leaseMs });
  actors.register([apiKeyKind]);
  const passwords = createPasswords({ memoryKiB: 64, passes: 1 });
  const tokens = await createAccessTokens({ seeds: secrets.jwtSeeds, issuer: baseUrl, lifetimeMs: limits["keep.accessToken"] });
  const credentials = createCredentials({ storage });
  const keyUse = createKeyUse({ storage, log });
  const authenticator = createAuthenticator({ storage, directory, tokens, credentials, keyUse });
  const registry = createAccountRegistry({ storage, directory, access });
  const pager = createPager({ storage, pageKey: secrets.pageKey, limits });
  const resolver = createAccessResolver({
    storage,
    locateArticle: options.locateArticle ?? (async () => undefined),
    locateRun: async () => undefined,
  });
  const memberships = createMemberships({ storage, leaseMs, log });
  const ids = createIds({ now: () => clock.nowMs });
  const installation = createInstallation({ storage, accounts: registry, passwords, ids, baseUrl, limits, log });

  /** Creates a call as the wrapper does. */
  function callOf(principal?: Principal, more: Partial<Call> = {}): Call {
    return {
      requestId: "req_test",
      ...(principal === undefined ? {} : { principal }),
      nowMs: clock.nowMs,
      ids,
      isRepeatable: false,
      limits,
      remoteAddress: "127.0.0.1",
      commit: (batch) => storage.commit(batch),
      ...more,
    };
  }

  return {
    storage,
    clock,
    limits,
    lines,
    facts,
    secrets,
    directory,
    access,
    pump,
    actors,
    passwords,
    tokens,
    credentials,
    keyUse,
    authenticator,
    registry,
    resolver,
    memberships,
    installation,
    callOf,
    sessions: createSessions({
      storage,
      accounts: registry,
      passwords,
      tokens,
      refreshTokens: createRefreshTokens(secrets.ticketKeys),
      access,
      log,
    }),
    tickets: createStreamTickets({ storage, keys: secrets.ticketKeys, credentials, access: resolver }),
    accounts: createAccounts({ storage, registry, passwords, pager, baseUrl, log }),
    passwordReset: createPasswordReset({ storage, registry, baseUrl, lifetimeMs: 3_600_000, log }),
    setup: createSetup({ storage, accounts: registry, installation, passwords, log }),
    ownAccount: createOwnAccount({ storage, accounts: registry, passwords, log }),
    createKey: createKeyCreation({ storage, actors, directory, resolver, log }),
    keys: createApiKeys({ storage, actors, directory, keyUse, access, pager, log }),
    workspaces: createWorkspaces({ storage, memberships, pager }),
    members: createMembers({ storage, accounts: registry, memberships, access, pageTokens: createPageTokens(secrets.pageKey), log }),
  };
}

export type Identity = Awaited<ReturnType<typeof createIdentity>>;

export const password = "correct horse battery";

/** Creates the first account, which is an operator, and signs it in. */
export async function firstOperator(identity: Identity, username = "root") {
  await identity.installation.prepare({ username, password });
  return signedIn(identity, username);
}

/** Signs in with the test password. `call` makes further calls of that session. */
export async function signedIn(identity: Identity, username: string) {
  const tokens = await identity.sessions.token(identity.callOf(), { grantType: "password", username, password });
  const principal = await identity.authenticator.authenticate({ bearer: tokens.accessToken });
  return { ...tokens, principal, username, call: (more?: Partial<Call>) => identity.callOf(principal, more) };
}

export type Person = Awaited<ReturnType<typeof signedIn>>;

/** Creates an account through the operator and signs it in. */
export async function newPerson(identity: Identity, operator: Person, username: string): Promise<Person> {
  await identity.accounts.create(operator.call(), { username, password });
  return signedIn(identity, username);
}

/** Creates a key of this person and returns its principal. */
export async function newKey(
  identity: Identity,
  person: Pick<Person, "call">,
  request: Omit<Parameters<Identity["createKey"]>[1], "name"> = {},
) {
  const created = await identity.createKey(person.call(), { name: "key", ...request });
  const principal = await identity.authenticator.authenticate({ apiKey: created.key });
  return { ...created, principal, call: (more?: Partial<Call>) => identity.callOf(principal, more) };
}

/** Returns the error code of a refusal, or `done` if the work succeeded. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (reason) {
    const { code } = reason as Partial<AppError>;
    if (code === undefined) throw reason;
    return code;
  }
}

/** Returns the entries of the audit stream that were logged so far. */
export function auditOf(identity: Identity): readonly Record<string, unknown>[] {
  return identity.lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line.stream === "audit");
}
