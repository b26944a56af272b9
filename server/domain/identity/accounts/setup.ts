/**
 * This module handles POST /auth/setup, which uses a one-time link. The link either creates the first account or sets
 * the password of an account that an operator created. The commit that uses the link also invalidates it.
 */
import type { Logger } from "pino";
import type { z } from "zod";
import type { Account, SetupRequest } from "../../../../api/schema/account.ts";
import { AppError } from "../../../../api/schema/error.ts";
import { idPattern } from "../../../../api/schema/id.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import type { Call } from "../../call/call.ts";
import type { Passwords } from "../auth/passwords.ts";
import { accountRecord, toAccount } from "../registry/accountRecords.ts";
import type { AccountRegistry } from "../registry/accountRegistry.ts";
import { type Installation, linkExpired } from "./installation.ts";
import { isFirstAccountToken, isValidSetupToken, targetOfSetupToken } from "./setupLinks.ts";

export interface Setup {
  complete(call: Pick<Call, "commit">, request: z.output<typeof SetupRequest>): Promise<Account>;
}

export interface SetupOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly accounts: Pick<AccountRegistry, "change">;
  readonly installation: Pick<Installation, "completeFirst" | "requireFirstToken">;
  readonly passwords: Pick<Passwords, "hash">;
  readonly log: Logger;
}

const accountIdPattern = idPattern("usr");

function badUsername(message: string): AppError {
  return new AppError("validation_failed", `The field username ${message}.`, {
    errors: [{ pointer: "/username", code: "invalid", message }],
  });
}

export function createSetup({ storage, accounts, installation, passwords, log }: SetupOptions): Setup {
  const audit = log.child({ stream: "audit" });

  return {
    async complete(call, { token, password, username, displayName }) {
      if (isFirstAccountToken(token)) {
        // Check the token before the expensive hash, so that guessed tokens are cheap to reject.
        await installation.requireFirstToken(token);
        if (username === undefined) throw badUsername("is required for the first account");
        const passwordHash = await passwords.hash(password);
        const commit: Parameters<Installation["completeFirst"]>[2] = (batch, made) => call.commit(batch, toAccount(made));
        return toAccount(await installation.completeFirst(token, { username, displayName, passwordHash }, commit));
      }
      const accountId = targetOfSetupToken(token);
      const found = accountIdPattern.test(accountId) ? await storage.records.get(accountRecord, accountId) : undefined;
      if (found === undefined || !isValidSetupToken(token, found.value.setup, storage.now())) throw linkExpired();
      if (username !== undefined && username !== found.value.username) throw badUsername(`must be ${found.value.username} for this link`);
      const passwordHash = await passwords.hash(password);
      const account = await accounts.change(
        accountId,
        (before) => {
          if (!isValidSetupToken(token, before.setup, storage.now())) throw linkExpired();
          const { setup: _used, ...rest } = before;
          const named = displayName === undefined ? {} : { displayName };
          // Increase the epoch so that all sessions that used an old password end.
          return { next: { ...rest, ...named, passwordHash, sessionEpoch: before.sessionEpoch + 1 } };
        },
        (batch, next) => call.commit(batch, toAccount(next)),
      );
      audit.info({ event: "account.setup", username: account.username }, "password set with a setup link");
      return toAccount(account);
    },
  };
}
