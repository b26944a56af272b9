/**
 * This module defines the stored records of accounts and of the installation. The installation record says whether an
 * account exists and holds the links for creating the first one. Passwords are stored as argon2id text, link tokens as
 * SHA-256.
 */
import type { Account } from "../../../../api/schema/account.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Partition } from "../../../platform/storage/port.ts";
import { defineRecord } from "../../../platform/storage/recordType.ts";

export interface SetupToken {
  /** SHA-256 of the token, in hex. */
  readonly hash: string;
  readonly expiresAtMs: number;
}

export interface AccountRecord {
  readonly accountId: string;
  readonly username: string;
  readonly displayName?: string;
  /** The address as the user wrote it. Addresses that differ only in case are equal. */
  readonly email?: string;
  readonly operator: boolean;
  readonly disabled: boolean;
  /** Absent until the user sets a password. */
  readonly passwordHash?: string;
  /** The one-time link for setting a password. */
  readonly setup?: SetupToken;
  /** Increases when all sessions end at once. Sessions of an earlier epoch are rejected. */
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

/**
 * The installation record and the first account share this partition, so that one commit creates exactly one first
 * account.
 */
export const installationPartition: Partition = 0;
export const installationKey = "installation";

export interface InstallationRecord {
  /** Reserved before the account exists, so that an interrupted attempt can be repeated. */
  readonly firstAccountId: string;
  readonly firstAccountExists: boolean;
  /** Links printed by earlier server starts. Empty once the account exists. */
  readonly links: readonly SetupToken[];
}

export const installationRecord = defineRecord<InstallationRecord>({
  name: "installation",
  version: 1,
  partitionOf: () => installationPartition,
  keyOf: () => installationKey,
});

export const accountRecordTypes = [accountRecord, installationRecord];

/** Profile fields to change. An absent field stays the same; `null` clears it. */
export interface ProfileChange {
  readonly displayName?: string | null | undefined;
  readonly email?: string | null | undefined;
}

export function withProfile(before: AccountRecord, change: ProfileChange): AccountRecord {
  const { displayName: _name, email: _email, ...rest } = before;
  const displayName = change.displayName === undefined ? before.displayName : change.displayName;
  const email = change.email === undefined ? before.email : change.email;
  return { ...rest, ...(displayName == null ? {} : { displayName }), ...(email == null ? {} : { email }) };
}

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
