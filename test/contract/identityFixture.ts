/**
 * Creates identity as a server has it, on a store with a manual clock. All services are wired as in the product, and
 * calls are made in the way the wrapper makes them.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterEach, beforeEach } from "vitest";
import type { Limits } from "../../api/limits.ts";
import type { Call, Principal } from "../../server/domain/call/call.ts";
import { present } from "../../server/domain/call/present.ts";
import { type AccessFact, createAccessWatch } from "../../server/domain/identity/access/accessFacts.ts";
import { createPasswordReset } from "../../server/domain/identity/accounts/passwordReset.ts";
import { createPasswords } from "../../server/domain/identity/auth/passwords.ts";
import { identityRecordTypes } from "../../server/domain/identity/recordTypes.ts";
import { createAccountRegistry } from "../../server/domain/identity/registry/accountRegistry.ts";
import { createIdentity as createService } from "../../server/domain/identity/service.ts";
import type { Locate } from "../../server/domain/identity/workspaces/access.ts";
import { directoryRow } from "../../server/platform/storage/directory.ts";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { baseUrl, composeParts } from "../support/composeParts.ts";
import { locateNothing } from "../support/locateNothing.ts";

export const recordTypes = [directoryRow, ...identityRecordTypes];
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

export interface IdentityOptions {
  readonly limits?: Partial<Limits>;
  readonly locateArticle?: Locate;
  /** Wraps the store before the services receive it. */
  readonly around?: (storage: Storage) => Storage;
  readonly keys?: readonly Uint8Array[];
}

/** Creates the identity of the product. Only hashing a password costs less. */
export async function createIdentity(store: Pick<Store, "clock" | "storage">, options: IdentityOptions = {}) {
  const { clock } = store;
  const storage = options.around?.(store.storage) ?? store.storage;
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const parts = composeParts(storage, { log, leaseMs, limits: options.limits, keys: options.keys });
  const { limits, ids } = parts;
  const access = createAccessWatch({ storage, log, pollMs: 20 });
  const facts: AccessFact[] = [];
  access.subscribe((fact) => facts.push(fact));
  const service = await createService({
    ...parts,
    passwords: createPasswords({ memoryKiB: 64, passes: 1 }),
    locators: { ...locateNothing, ...present({ article: options.locateArticle }) },
  });
  const installed = parts.install([service.manifest]);

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
      commit: (batch) => parts.storage.commit(batch),
      ...more,
    };
  }

  return {
    ...parts,
    ...service,
    ...service.services,
    clock,
    lines,
    access,
    facts,
    callOf,
    registry: createAccountRegistry(parts),
    passwordReset: createPasswordReset({ storage, baseUrl, lifetimeMs: 3_600_000, log }),
    /** Resolves when no write of identity is in progress. */
    settled: installed.close,
  };
}

/** Opens a store with an identity before each test, and closes both after it. */
export function eachWithIdentity(
  open: () => Promise<Store>,
  use: (opened: { readonly store: Store; readonly identity: Identity }) => unknown,
) {
  let opened: { readonly store: Store; readonly identity: Identity };
  beforeEach(async () => {
    const store = await open();
    opened = { store, identity: await createIdentity(store) };
    await use(opened);
  });
  afterEach(async () => {
    await opened.identity.settled();
    await opened.store.close();
  });
}

export type Identity = Awaited<ReturnType<typeof createIdentity>>;

export const password = "correct horse battery";

/** Creates the first account, which is an operator, and signs it in. */
export async function firstOperator(identity: Identity, username = "root") {
  await identity.prepare({ username, password });
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

/** Creates an operator, two people, and a second later a team workspace of the first of them. */
export async function newTeam({ store, identity }: { readonly store: Store; readonly identity: Identity }) {
  const root = await firstOperator(identity);
  const ann = await newPerson(identity, root, "ann");
  const bob = await newPerson(identity, root, "bob");
  store.clock.nowMs += 1000;
  const { workspaceId: team } = await identity.workspaces.create(ann.call(), { name: "Team", type: "team" });
  return { root, ann, bob, team };
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

/** Returns the entries of the audit stream that were logged so far. */
export function auditOf(identity: Identity): readonly Record<string, unknown>[] {
  return identity.lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line.stream === "audit");
}
