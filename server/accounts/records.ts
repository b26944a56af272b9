/**
 * What is kept of accounts, and of the installation: whether there is an account yet, and the links by which
 * the first one may be made. Passwords are kept as argon2id text, link tokens as SHA-256.
 */
import type { Account } from "../../api/schema/account.ts";
import { partitionOfId } from "../ids.ts";
import type { Partition } from "../storage/port.ts";
import { defineRecord } from "../storage/recordType.ts";

export interface SetupToken {
  /** SHA-256 of the token, in hex. */
  readonly hash: string;
  readonly expiresAtMs: number;
}

export interface AccountRecord {
  readonly accountId: string;
  readonly username: string;
  readonly displayName?: string;
  /** As written; two that differ in case only are the same. */
  readonly email?: string;
  readonly operator: boolean;
  readonly disabled: boolean;
  /** Absent until the person has set one. */
  readonly passwordHash?: string;
  /** The one-time link by which the person sets a password. */
  readonly setup?: SetupToken;
  /** Rises when all sessions end at once; those of an earlier epoch are refused. */
  readonly sessionEpoch: number;
  readonly createdAtMs: number;
}

export const accountRecord = defineRecord<AccountRecord>({
  name: "account",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.accountId,
  indexes: (value) => [["account.created", value.createdAtMs, value.accountId]],
});

/** The installation record and the first account share it, so that there is one first account, in one commit. */
export const installationPartition: Partition = 0;
export const installationKey = "installation";

export interface InstallationRecord {
  /** Set aside before the account exists, so that an attempt that was cut short can be repeated. */
  readonly firstAccountId: string;
  readonly firstAccountExists: boolean;
  /** Links printed by starts so far; empty once the account exists. */
  readonly links: readonly SetupToken[];
}

export const installationRecord = defineRecord<InstallationRecord>({
  name: "installation",
  version: 1,
  partitionOf: () => installationPartition,
  keyOf: () => installationKey,
});

export const accountRecordTypes = [accountRecord, installationRecord];

export function toAccount(record: AccountRecord): Account {
  const { username, displayName, email, operator, disabled, createdAtMs } = record;
  return {
    username,
    ...(displayName === undefined ? {} : { displayName }),
    ...(email === undefined ? {} : { email }),
    operator,
    disabled,
    createdAt: createdAtMs / 1000,
  };
}
