/** This module returns the caller's own account and lets its user change the name, e-mail address and password. */
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Me, UpdateMeRequest } from "../../../../api/schema/account.ts";
import { AppError } from "../../../../api/schema/error.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import type { Call, Principal } from "../../call/call.ts";
import { principalOf, sessionOf } from "../../call/principal.ts";
import type { Passwords } from "../auth/passwords.ts";
import { type AccountRecord, accountRecord, withProfile } from "../registry/accountRecords.ts";
import type { AccountRegistry } from "../registry/accountRegistry.ts";
import { roleIn } from "../workspaces/access.ts";
import { workspaceRecord } from "../workspaces/records.ts";

export interface OwnAccount {
  get(call: Call): Promise<Me>;
  /** Updates the account. A new password requires the current one and ends all other sessions. */
  update(call: Call, request: z.output<typeof UpdateMeRequest>): Promise<Me>;
}

export interface OwnAccountOptions {
  readonly storage: Pick<Storage, "records" | "counts">;
  readonly accounts: Pick<AccountRegistry, "change">;
  readonly passwords: Passwords;
  readonly log: Logger;
}

function wrongPassword(): AppError {
  const message = "The current password is wrong.";
  return new AppError("unauthenticated", message, { errors: [{ pointer: "/currentPassword", code: "wrong", message }] });
}

export function createOwnAccount({ storage, accounts, passwords, log }: OwnAccountOptions): OwnAccount {
  const audit = log.child({ stream: "audit" });

  async function countWorkspaces(principal: Principal): Promise<number> {
    const { accountId } = principal;
    if (principal.kind === "session" || principal.workspaceIds === undefined) {
      const [count = 0] = await storage.counts.get(partitionOfId(accountId), [["membership.account", accountId]]);
      return count;
    }
    const reached = await storage.records.getMany(workspaceRecord, principal.workspaceIds);
    return reached.filter((stored) => stored !== undefined && roleIn(stored.value, accountId) !== undefined).length;
  }

  function toMe(principal: Principal, account: AccountRecord, workspaces: number): Me {
    return {
      username: account.username,
      ...(account.displayName === undefined ? {} : { displayName: account.displayName }),
      // API keys are used by programs, which do not need the e-mail address of a person.
      ...(principal.kind === "key" || account.email === undefined ? {} : { email: account.email }),
      operator: principal.operator,
      credential: principal.kind,
      ...(principal.kind === "key" ? { keyId: principal.keyId } : {}),
      ...(principal.kind === "key" && principal.scopes !== undefined ? { scopes: [...principal.scopes] } : {}),
      workspaces,
    };
  }

  async function readAccount(accountId: string): Promise<AccountRecord> {
    const stored = await storage.records.get(accountRecord, accountId);
    if (stored === undefined) throw new Error(`there is no account ${accountId}`);
    return stored.value;
  }

  return {
    async get(call) {
      const principal = principalOf(call);
      return toMe(principal, await readAccount(principal.accountId), await countWorkspaces(principal));
    },

    async update(call, { displayName, email, password, currentPassword }) {
      const session = sessionOf(call);
      const { accountId, sessionId } = session;
      const workspaces = await countWorkspaces(session);
      const checked = await readAccount(accountId);
      if (password !== undefined && !(await passwords.verify(checked.passwordHash, currentPassword ?? ""))) throw wrongPassword();
      const passwordHash = password === undefined ? undefined : await passwords.hash(password);
      const account = await accounts.change(
        accountId,
        (before) => {
          const next = withProfile(before, { displayName, email });
          if (passwordHash === undefined) return isDeepStrictEqual(next, before) ? undefined : { next };
          // The password changed after it was checked, so the given password is no longer the current one.
          if (before.passwordHash !== checked.passwordHash) throw wrongPassword();
          return { next: { ...next, passwordHash, sessionEpoch: before.sessionEpoch + 1 }, keepSessionId: sessionId };
        },
        (batch, next) => call.commit(batch, toMe(session, next, workspaces)),
      );
      if (password !== undefined) audit.info({ event: "account.password", username: account.username, sessionId }, "password changed");
      return toMe(session, account, workspaces);
    },
  };
}
