/**
 * This module creates a new one-time link with which the user of an existing account sets a new password. It is for the
 * administrator of the server, when no operator can help. Until the link is used, the current password and sessions
 * stay valid.
 */
import type { Logger } from "pino";
import { Username } from "../../../../api/schema/common.ts";
import { createDirectory } from "../../../platform/storage/directory.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import { createAccountRegistry } from "../registry/accountRegistry.ts";
import { createAccountLink } from "./setupLinks.ts";

export interface PasswordLink {
  readonly username: string;
  /** The link must be shown once, and not through the logger. */
  readonly url: string;
  /** True for a disabled account. The link sets its password too, but sign-in stays impossible. */
  readonly disabled: boolean;
}

export interface PasswordReset {
  /** Finds the account by username, ignoring case. Resolves with `undefined` when no such account exists. */
  createLink(username: string): Promise<PasswordLink | undefined>;
}

export interface PasswordResetOptions {
  readonly storage: Storage;
  readonly baseUrl: string;
  readonly lifetimeMs: number;
  readonly log: Logger;
}

export function createPasswordReset({ storage, baseUrl, lifetimeMs, log }: PasswordResetOptions): PasswordReset {
  const registry = createAccountRegistry({ storage, directory: createDirectory(storage) });
  const audit = log.child({ stream: "audit" });

  return {
    async createLink(given) {
      const account = Username.safeParse(given).success ? await registry.find(given) : undefined;
      if (account === undefined) return undefined;
      const { username } = account;
      const { url, kept } = createAccountLink(baseUrl, account, storage.now() + lifetimeMs);
      const { disabled } = await registry.change(
        account.accountId,
        (before) => ({ next: { ...before, setup: kept } }),
        (batch) => storage.commit(batch),
      );
      audit.info({ event: "account.link", username }, "setup link made");
      return { username, url, disabled };
    },
  };
}
