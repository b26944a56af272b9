/**
 * This module creates, finds and changes account records.
 *
 * It keeps usernames and e-mail addresses unique across all partitions: they are claimed in the directory before the
 * commit that uses them. The commit that creates an account also creates the account's own workspace. Permissions and
 * API responses are the responsibility of the callers.
 */
import { AppError } from "../../../../api/schema/error.ts";
import type { Directory } from "../../../platform/storage/directory.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Batch, CommitResult, RecordWrite, Storage, Stored } from "../../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../../platform/storage/retryOnConflict.ts";
import { accessFactWrite } from "../access/accessFacts.ts";
import { sweepSessions, toSessionEndings } from "../access/sessionEndings.ts";
import { toNewWorkspace } from "../workspaces/newWorkspace.ts";
import { type AccountRecord, accountRecord } from "./accountRecords.ts";

const usernameSpace = "username";
const emailSpace = "email";

export interface NewAccount {
  readonly accountId: string;
  /** Id of the account's own workspace. It must be in the partition of the account. */
  readonly workspaceId: string;
  readonly username: string;
  readonly displayName?: string | undefined;
  readonly email?: string | undefined;
  readonly operator: boolean;
  readonly passwordHash?: string | undefined;
  readonly setup?: AccountRecord["setup"] | undefined;
  readonly nowMs: number;
}

export interface AccountChange {
  readonly next: AccountRecord;
  readonly extraWrites?: Omit<Batch, "partition">;
  /** The only session that stays valid when `sessionEpoch` is increased. */
  readonly keepSessionId?: string;
}

export type CommitAccount = (batch: Batch, account: AccountRecord) => Promise<CommitResult>;

export interface AccountRegistry {
  /** Creates an account and its workspace. Throws `already_exists` for a used username or e-mail address. */
  create(account: NewAccount, commit: CommitAccount, extraWrites?: Omit<Batch, "partition">): Promise<AccountRecord>;
  /** Finds an account by username, ignoring case. */
  find(username: string): Promise<AccountRecord | undefined>;
  findStored(username: string): Promise<Stored<AccountRecord> | undefined>;
  /** Applies `decide` to the latest record and retries it after a conflict. `undefined` changes nothing. */
  change(
    accountId: string,
    decide: (account: AccountRecord, revision: number) => AccountChange | undefined | Promise<AccountChange | undefined>,
    commit: CommitAccount,
  ): Promise<AccountRecord>;
}

export interface AccountRegistryOptions {
  readonly storage: Pick<Storage, "records" | "index" | "commit">;
  readonly directory: Directory;
}

function taken(field: "username" | "email"): AppError {
  const name = field === "username" ? "username" : "e-mail address";
  const message = `This ${name} belongs to another account.`;
  return new AppError("already_exists", message, { errors: [{ pointer: `/${field}`, code: "already_exists", message }] });
}

export function createAccountRegistry({ storage, directory }: AccountRegistryOptions): AccountRegistry {
  async function read(accountId: string) {
    return storage.records.get(accountRecord, accountId);
  }

  async function claimUsername(username: string, accountId: string): Promise<void> {
    const pointsBack = async (target: string) => (await read(target))?.value.username === username;
    if ((await directory.claim(usernameSpace, username, accountId, pointsBack)) === "taken") throw taken("username");
  }

  async function claimEmail(email: string, accountId: string): Promise<void> {
    const text = email.toLowerCase();
    const pointsBack = async (target: string) => (await read(target))?.value.email?.toLowerCase() === text;
    if ((await directory.claim(emailSpace, text, accountId, pointsBack)) === "taken") throw taken("email");
  }

  async function findStored(username: string): Promise<Stored<AccountRecord> | undefined> {
    const text = username.toLowerCase();
    const accountId = await directory.find(usernameSpace, text);
    const stored = accountId === undefined ? undefined : await read(accountId);
    return stored?.value.username === text ? stored : undefined;
  }

  return {
    async create(account, commit, extraWrites = {}) {
      const { accountId, workspaceId, username, displayName, email, operator, passwordHash, setup, nowMs } = account;
      await claimUsername(username, accountId);
      if (email !== undefined) {
        try {
          await claimEmail(email, accountId);
        } catch (reason) {
          await directory.release(usernameSpace, username, accountId);
          throw reason;
        }
      }
      const value: AccountRecord = {
        accountId,
        username,
        ...(displayName === undefined ? {} : { displayName }),
        ...(email === undefined ? {} : { email }),
        operator,
        disabled: false,
        ...(passwordHash === undefined ? {} : { passwordHash }),
        ...(setup === undefined ? {} : { setup }),
        sessionEpoch: 1,
        createdAtMs: nowMs,
      };
      const own = toNewWorkspace({ workspaceId, name: displayName ?? username, type: "user", owner: { accountId, username }, nowMs });
      const put: RecordWrite<AccountRecord> = { op: "put", type: accountRecord, value, replacing: null };
      const records = [put as RecordWrite, ...own.records, own.membership, ...(extraWrites.records ?? [])];
      const result = await commit({ ...extraWrites, partition: partitionOfId(accountId), records }, value);
      // Keep the claims: a concurrent commit that won may use them. Unused claims become free after a minute.
      if (!result.ok) throw taken("username");
      return value;
    },

    findStored,
    find: async (username) => (await findStored(username))?.value,

    async change(accountId, decide, commit) {
      const partition = partitionOfId(accountId);
      const { before, after } = await retryOnConflict("account.change", async () => {
        const replacing = await read(accountId);
        if (replacing === undefined) throw new Error(`there is no account ${accountId}`);
        const before = replacing.value;
        const change = await decide(before, replacing.revision);
        if (change === undefined) return { before, after: before };
        const { next: after, extraWrites = {}, keepSessionId } = change;
        if (after.email !== undefined && after.email.toLowerCase() !== before.email?.toLowerCase()) {
          await claimEmail(after.email, accountId);
        }
        const ending =
          after.sessionEpoch > before.sessionEpoch
            ? (await toSessionEndings(storage, accountId, after.sessionEpoch, keepSessionId)).extraWrites
            : { records: [], logs: [] };
        const put: RecordWrite<AccountRecord> = { op: "put", type: accountRecord, value: after, replacing };
        const records = [put as RecordWrite, ...ending.records, ...(extraWrites.records ?? [])];
        const { displayName } = after;
        const renamed = displayName === before.displayName ? [] : [accessFactWrite({ kind: "account.renamed", accountId, displayName })];
        // Open sockets end with the first fact that concerns them. That an account was disabled says more than that its sessions ended.
        const logs = [...renamed, ...(extraWrites.logs ?? []), ...ending.logs];
        const result = await commit({ ...extraWrites, partition, records, logs }, after);
        return result.ok ? { before, after } : conflict;
      });
      if (after.sessionEpoch > before.sessionEpoch) await sweepSessions(storage, accountId, after.sessionEpoch);
      if (before.email !== undefined && after.email?.toLowerCase() !== before.email.toLowerCase()) {
        await directory.release(emailSpace, before.email.toLowerCase(), accountId);
      }
      return after;
    },
  };
}
