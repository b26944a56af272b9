/**
 * This module lets operators manage accounts. The operator role gives access to accounts but to no content. An account
 * is never deleted, only disabled, so its username is never available again.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Account, CreateAccountRequest, CreatedAccount, UpdateAccountRequest } from "../../../../api/schema/account.ts";
import { AppError, notFound } from "../../../../api/schema/error.ts";
import { partitionCount, type Storage } from "../../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../../platform/storage/retryOnConflict.ts";
import type { Call } from "../../call/call.ts";
import type { PageQuery, Pager } from "../../call/paging.ts";
import { requireMatch } from "../../call/precondition.ts";
import { sessionOf, toActor } from "../../call/principal.ts";
import { accessFactWrite } from "../access/accessFacts.ts";
import type { Passwords } from "../auth/passwords.ts";
import { type AccountRecord, accountRecord, toAccount, withProfile } from "../registry/accountRecords.ts";
import type { AccountRegistry } from "../registry/accountRegistry.ts";
import { createAccountLink } from "./setupLinks.ts";

export interface AccountQuery extends PageQuery {
  readonly q?: string | undefined;
  readonly disabled?: boolean | undefined;
}

export interface AccountPage {
  readonly accounts: readonly Account[];
  readonly nextToken?: string;
}

export interface FoundAccount {
  readonly account: Account;
  readonly revision: number;
}

export interface Accounts {
  create(call: Call, request: z.output<typeof CreateAccountRequest>): Promise<CreatedAccount>;
  /**
   * Lists accounts, newest first. Every word of `q` must be a prefix of a word of the username, display name or e-mail
   * address.
   */
  list(query: AccountQuery): Promise<AccountPage>;
  get(username: string): Promise<FoundAccount>;
  update(call: Call, username: string, request: z.output<typeof UpdateAccountRequest>): Promise<Account>;
}

export interface AccountsOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now" | "leases">;
  readonly registry: AccountRegistry;
  readonly passwords: Pick<Passwords, "hash">;
  readonly pager: Pager;
  readonly baseUrl: string;
  readonly log: Logger;
}

const everyPartition = Array.from({ length: partitionCount }, (_, partition) => partition);

function toWords(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

function matches(record: AccountRecord, wanted: readonly string[]): boolean {
  const words = toWords([record.username, record.displayName, record.email].filter((text) => text !== undefined).join(" "));
  return wanted.every((start) => words.some((word) => word.startsWith(start)));
}

/** Lease held while an operator is demoted or disabled. It lasts longer than that operation. */
const operatorLease = { partition: 0, name: "operators.takeDown", leaseMs: 10_000 };

export function createAccounts({ storage, registry, passwords, pager, baseUrl, log }: AccountsOptions): Accounts {
  const audit = log.child({ stream: "audit" });

  /**
   * Runs changes that demote or disable an operator one at a time, and only if the caller is still an operator.
   * Otherwise two operators who demote each other at the same time would leave no operator.
   */
  async function withOperatorLease<Value>(byUsername: string, change: () => Promise<Value>): Promise<Value> {
    const { partition, name, leaseMs } = operatorLease;
    const holder = randomUUID();
    return retryOnConflict("operators.takeDown", async () => {
      const lease = await storage.leases.acquire(partition, name, holder, leaseMs);
      if (lease === undefined) return conflict;
      try {
        const by = await registry.find(byUsername);
        if (by === undefined || !by.operator || by.disabled) {
          throw new AppError("insufficient_role", "This account is no longer an operator.");
        }
        return await change();
      } finally {
        await storage.leases.release(lease);
      }
    });
  }

  return {
    async create(call, { username, displayName, email, operator = false, password }) {
      const actor = toActor(sessionOf(call));
      // The partition comes from the ids of the call, so that a repeat of the call uses the same partition.
      const partition = (call.ids.bytes(1)[0] ?? 0) % partitionCount;
      const accountId = call.ids.next("usr", partition);
      const workspaceId = call.ids.next("ws", partition);
      const link =
        password === undefined
          ? createAccountLink(baseUrl, { accountId, username }, storage.now() + call.limits["keep.setupLink"])
          : undefined;
      const passwordHash = password === undefined ? undefined : await passwords.hash(password);
      const toCreated = (record: AccountRecord): CreatedAccount => ({
        ...toAccount(record),
        ...(link === undefined ? {} : { setupUrl: link.url }),
      });
      const made = await registry.create(
        { accountId, workspaceId, username, displayName, email, operator, passwordHash, setup: link?.kept, nowMs: call.nowMs },
        (batch, record) => call.commit(batch, toCreated(record)),
      );
      audit.info({ event: "account.created", username, operator, by: actor }, "account created");
      return toCreated(made);
    },

    async list({ q, disabled, limit, nextToken }) {
      const words = toWords(q ?? "");
      const { items, ...rest } = await pager.page<AccountRecord>({
        scope: `accounts?${new URLSearchParams({ q: words.join(" "), disabled: String(disabled) })}`,
        partition: everyPartition,
        prefix: ["account.created"],
        reverse: true,
        limit,
        nextToken,
        load: async (keys) => (await storage.records.getMany(accountRecord, keys)).map((stored) => stored?.value),
        keep: (record) => (disabled === undefined || record.disabled === disabled) && matches(record, words),
      });
      return { accounts: items.map(toAccount), ...rest };
    },

    async get(username) {
      const stored = await registry.findStored(username);
      if (stored === undefined) throw notFound();
      return { account: toAccount(stored.value), revision: stored.revision };
    },

    async update(call, username, { displayName, email, operator, disabled }) {
      const session = sessionOf(call);
      const account = await registry.find(username);
      if (account === undefined) throw notFound();
      if (account.accountId === session.accountId && (operator === false || disabled === true)) {
        // This ensures that at least one operator remains: the caller.
        throw new AppError("insufficient_permission", "An operator cannot disable or demote itself; another operator can.");
      }
      const change = () =>
        registry.change(
          account.accountId,
          (before, revision) => {
            requireMatch(call, revision);
            const next: AccountRecord = {
              ...withProfile(before, { displayName, email }),
              ...(operator === undefined ? {} : { operator }),
              ...(disabled === undefined ? {} : { disabled }),
            };
            if (!next.disabled || before.disabled) return isDeepStrictEqual(next, before) ? undefined : { next };
            return {
              next: { ...next, sessionEpoch: before.sessionEpoch + 1 },
              extraWrites: { logs: [accessFactWrite({ kind: "account.disabled", accountId: before.accountId })] },
            };
          },
          (batch, record) => call.commit(batch, toAccount(record)),
        );
      const updated = await (operator === false || disabled === true ? withOperatorLease(session.username, change) : change());
      audit.info({ event: "account.updated", username, operator, disabled, by: toActor(session) }, "account updated");
      return toAccount(updated);
    },
  };
}
