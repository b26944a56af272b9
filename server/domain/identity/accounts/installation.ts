/**
 * This module creates the first account, either from the settings or through a one-time link.
 *
 * The installation record reserves the id of the first account before the username is claimed, and the account is
 * created in the partition of that record. Therefore an interrupted attempt can be repeated, and exactly one of two
 * simultaneous attempts wins, in one commit. Settings that name an account never change a store that has accounts.
 */
import type { Logger } from "pino";
import type { Limits } from "../../../../api/limits.ts";
import { AppError } from "../../../../api/schema/error.ts";
import type { IdSource } from "../../../platform/storage/ids.ts";
import type { RecordWrite, Storage, Stored } from "../../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../../platform/storage/retryOnConflict.ts";
import type { Passwords } from "../auth/passwords.ts";
import {
  type AccountRecord,
  type InstallationRecord,
  installationKey,
  installationPartition,
  installationRecord,
  type SetupToken,
} from "../registry/accountRecords.ts";
import type { AccountRegistry, CommitAccount } from "../registry/accountRegistry.ts";
import { createFirstAccountLink, isValidSetupToken } from "./setupLinks.ts";

/** Maximum number of valid links. Each server start adds one, and the oldest links are dropped. */
const maxLinks = 8;

export interface FirstAccount {
  readonly username: string;
  readonly displayName?: string | undefined;
  readonly passwordHash: string;
}

export type Prepared =
  | { readonly kind: "exists" }
  /** The settings name an account although the store already has accounts. Nothing was changed. */
  | { readonly kind: "ignored"; readonly username: string; readonly isKnown: boolean }
  | { readonly kind: "made"; readonly username: string }
  /** The link must be shown to the operator once, and not through the logger. */
  | { readonly kind: "link"; readonly url: string };

export interface Installation {
  /** Runs at every start. While no account exists, creates the account of the settings or a new link. */
  prepare(settings?: { readonly username: string; readonly password: string }): Promise<Prepared>;
  /** Creates the first account with the token of a link. Throws `link_expired`. */
  completeFirst(token: string, account: FirstAccount, commit: CommitAccount): Promise<AccountRecord>;
  /** Throws `link_expired` unless the token is valid now. */
  requireFirstToken(token: string): Promise<void>;
}

export interface InstallationOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now">;
  readonly accounts: Pick<AccountRegistry, "create" | "find">;
  readonly passwords: Pick<Passwords, "hash">;
  readonly ids: IdSource;
  readonly baseUrl: string;
  readonly limits: Limits;
  readonly log: Logger;
}

export function linkExpired(): AppError {
  return new AppError("link_expired", "This setup link was used already, has expired, or never existed. Ask for a new one.");
}

function toWrite(value: InstallationRecord, replacing: Stored<InstallationRecord> | null): RecordWrite<InstallationRecord> {
  return { op: "put", type: installationRecord, value, replacing };
}

export function createInstallation(options: InstallationOptions): Installation {
  const { storage, accounts, passwords, ids, baseUrl, limits } = options;
  const audit = options.log.child({ stream: "audit" });

  const read = () => storage.records.get(installationRecord, installationKey);

  /** Rewrites the installation record. `decide` returns `undefined` to leave it unchanged. */
  function change(decide: (before: InstallationRecord) => InstallationRecord | undefined): Promise<InstallationRecord> {
    const firstAccountId = ids.next("usr", installationPartition);
    return retryOnConflict("installation.change", async () => {
      const replacing = await read();
      const before = replacing?.value ?? { firstAccountId, firstAccountExists: false, links: [] };
      const value = decide(before);
      if (value === undefined) return before;
      const result = await storage.commit({ partition: installationPartition, records: [toWrite(value, replacing ?? null)] });
      return result.ok ? value : conflict;
    });
  }

  /**
   * Creates the account if `isAllowed` accepts the record that the commit replaces. Returns `undefined` if a retry is
   * needed.
   */
  async function make(account: FirstAccount, isAllowed: (installation: InstallationRecord) => boolean, commit: CommitAccount) {
    const replacing = await read();
    if (replacing === undefined || replacing.value.firstAccountExists || !isAllowed(replacing.value)) throw linkExpired();
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
      // The commit failed because another attempt won or another start added its link, so read the record again.
      if (!(reason instanceof AppError) || reason.code !== "already_exists") throw reason;
      const now = await read();
      if (now?.value.firstAccountExists === true) throw linkExpired();
      if (now?.revision !== replacing.revision) return undefined;
      throw reason;
    }
  }

  async function createWithRetry(account: FirstAccount, isAllowed: (installation: InstallationRecord) => boolean, commit: CommitAccount) {
    return retryOnConflict("installation.firstAccount", async () => (await make(account, isAllowed, commit)) ?? conflict);
  }

  const hasValidLink = (token: string) => (installation: InstallationRecord) =>
    installation.links.some((link) => isValidSetupToken(token, link, storage.now()));

  async function ignore(username: string): Promise<Prepared> {
    return { kind: "ignored", username, isKnown: (await accounts.find(username)) !== undefined };
  }

  return {
    async prepare(settings) {
      if ((await read())?.value.firstAccountExists === true) {
        return settings === undefined ? { kind: "exists" } : ignore(settings.username);
      }
      if (settings !== undefined) {
        await change((before) => before);
        const passwordHash = await passwords.hash(settings.password);
        try {
          const { username } = await createWithRetry(
            { username: settings.username, passwordHash },
            () => true,
            (batch) => storage.commit(batch),
          );
          return { kind: "made", username };
        } catch (reason) {
          // Another node with the same settings was first.
          if (reason instanceof AppError && reason.code === "link_expired") return ignore(settings.username);
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
    completeFirst: (token, account, commit) => createWithRetry(account, hasValidLink(token), commit),
    async requireFirstToken(token) {
      const installation = (await read())?.value;
      if (installation === undefined || installation.firstAccountExists || !hasValidLink(token)(installation)) throw linkExpired();
    },
  };
}

function withLink(links: readonly SetupToken[], link: SetupToken, nowMs: number): readonly SetupToken[] {
  return [...links.filter((kept) => kept.expiresAtMs > nowMs), link].slice(-maxLinks);
}
