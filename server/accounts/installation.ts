/**
 * The first account of an installation: from the settings when they name one, else by a one-time link.
 *
 * The id of the first account is set aside in the installation record before anything is claimed for it, and
 * the account is made in the partition of that record: so an attempt that was cut short can be repeated, and
 * of two attempts at once one wins, in one commit.
 */
import type { Logger } from "pino";
import type { Limits } from "../../api/limits.ts";
import { AppError } from "../../api/schema/error.ts";
import type { Passwords } from "../auth/passwords.ts";
import { conflict, untilCommitted } from "../calls/untilCommitted.ts";
import type { IdSource } from "../ids.ts";
import type { RecordWrite, Storage, Stored } from "../storage/port.ts";
import type { AccountRegistry, CommitAccount } from "./accountRegistry.ts";
import {
  type AccountRecord,
  type InstallationRecord,
  installationKey,
  installationPartition,
  installationRecord,
  type SetupToken,
} from "./records.ts";
import { createFirstAccountLink, isGoodSetupToken } from "./setupLinks.ts";

/** Links of earlier starts that still work; more than a few would only be noise. */
const maxLinks = 8;

export interface FirstAccount {
  readonly username: string;
  readonly displayName?: string | undefined;
  readonly passwordHash: string;
}

export type Prepared =
  | { readonly kind: "exists" }
  | { readonly kind: "made"; readonly username: string }
  /** To be shown to the operator once, not through the logger. */
  | { readonly kind: "link"; readonly url: string };

export interface Installation {
  /** At every start: makes the account of the settings or a new link while there is no account yet. */
  prepare(settings?: { readonly username: string; readonly password: string }): Promise<Prepared>;
  /** Makes the first account with a link's token. Refuses with `link_expired`. */
  completeFirst(token: string, account: FirstAccount, commit: CommitAccount): Promise<AccountRecord>;
  /** Refuses with `link_expired` unless the token would be taken now. */
  requireFirstToken(token: string): Promise<void>;
}

export interface InstallationOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now">;
  readonly accounts: Pick<AccountRegistry, "create">;
  readonly passwords: Pick<Passwords, "hash">;
  readonly ids: IdSource;
  readonly baseUrl: string;
  readonly limits: Limits;
  readonly log: Logger;
}

export function linkExpired(): AppError {
  return new AppError("link_expired", "This setup link was used, has expired, or was never one. Ask for a new one.");
}

function toWrite(value: InstallationRecord, replacing: Stored<InstallationRecord> | null): RecordWrite<InstallationRecord> {
  return { op: "put", type: installationRecord, value, replacing };
}

export function createInstallation(options: InstallationOptions): Installation {
  const { storage, accounts, passwords, ids, baseUrl, limits } = options;
  const audit = options.log.child({ stream: "audit" });

  const read = () => storage.records.get(installationRecord, installationKey);

  /** Rewrites the installation record; `decide` answers `undefined` to leave it. */
  function change(decide: (before: InstallationRecord) => InstallationRecord | undefined): Promise<InstallationRecord> {
    const firstAccountId = ids.next("usr", installationPartition);
    return untilCommitted(async () => {
      const replacing = await read();
      const before = replacing?.value ?? { firstAccountId, firstAccountExists: false, links: [] };
      const value = decide(before);
      if (value === undefined) return before;
      const result = await storage.commit({ partition: installationPartition, records: [toWrite(value, replacing ?? null)] });
      return result.ok ? value : conflict;
    });
  }

  /** `good`, asked on the very record that the commit replaces, says whether the account may be made. */
  async function make(account: FirstAccount, good: (installation: InstallationRecord) => boolean, commit: CommitAccount) {
    const replacing = await read();
    if (replacing === undefined || replacing.value.firstAccountExists || !good(replacing.value)) throw linkExpired();
    const { firstAccountId: accountId } = replacing.value;
    const next: InstallationRecord = { firstAccountId: accountId, firstAccountExists: true, links: [] };
    const workspaceId = ids.next("ws", installationPartition);
    try {
      const made = await accounts.create({ ...account, accountId, workspaceId, operator: true, nowMs: storage.now() }, commit, {
        records: [toWrite(next, replacing) as RecordWrite],
      });
      audit.info({ event: "account.created", username: made.username, operator: true }, "first account created");
      return made;
    } catch (reason) {
      // Another attempt came first, or another start added its link: what was true above may not be now.
      if (!(reason instanceof AppError) || reason.code !== "already_exists") throw reason;
      const now = await read();
      if (now?.value.firstAccountExists === true) throw linkExpired();
      if (now?.revision !== replacing.revision) return undefined;
      throw reason;
    }
  }

  async function makeWhileGood(account: FirstAccount, good: (installation: InstallationRecord) => boolean, commit: CommitAccount) {
    return untilCommitted(async () => (await make(account, good, commit)) ?? conflict);
  }

  const isGood = (token: string) => (installation: InstallationRecord) =>
    installation.links.some((link) => isGoodSetupToken(token, link, storage.now()));

  return {
    async prepare(settings) {
      if ((await read())?.value.firstAccountExists === true) return { kind: "exists" };
      if (settings !== undefined) {
        await change((before) => before);
        const passwordHash = await passwords.hash(settings.password);
        try {
          const { username } = await makeWhileGood(
            { username: settings.username, passwordHash },
            () => true,
            (batch) => storage.commit(batch),
          );
          return { kind: "made", username };
        } catch (reason) {
          // Another node with the same settings was first.
          if (reason instanceof AppError && reason.code === "link_expired") return { kind: "exists" };
          throw reason;
        }
      }
      const nowMs = storage.now();
      const { url, kept } = createFirstAccountLink(baseUrl, nowMs + limits["keep.setupLink"]);
      const written = await change((before) =>
        before.firstAccountExists ? undefined : { ...before, links: withLink(before.links, kept, nowMs) },
      );
      return written.firstAccountExists ? { kind: "exists" } : { kind: "link", url };
    },
    completeFirst: (token, account, commit) => makeWhileGood(account, isGood(token), commit),
    async requireFirstToken(token) {
      const installation = (await read())?.value;
      if (installation === undefined || installation.firstAccountExists || !isGood(token)(installation)) throw linkExpired();
    },
  };
}

function withLink(links: readonly SetupToken[], link: SetupToken, nowMs: number): readonly SetupToken[] {
  return [...links.filter((kept) => kept.expiresAtMs > nowMs), link].slice(-maxLinks);
}
