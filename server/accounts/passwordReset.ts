/**
 * A new one-time link for an account that is there, by which its person sets a new password: for whoever runs the
 * server, when nobody else can help. Until the link is used, the password and the sessions there are stay as they are.
 */
import type { Logger } from "pino";
import { Username } from "../../api/schema/common.ts";
import type { Storage } from "../storage/port.ts";
import type { AccountRegistry } from "./accountRegistry.ts";
import { createAccountLink } from "./setupLinks.ts";

export interface PasswordLink {
  readonly username: string;
  /** Shown once, not through the logger. */
  readonly url: string;
  /** The link sets the password of a disabled account, too, but nobody can sign in with it. */
  readonly disabled: boolean;
}

export interface PasswordReset {
  /** By username, in any case; `undefined` when there is no such account. */
  createLink(username: string): Promise<PasswordLink | undefined>;
}

export interface PasswordResetOptions {
  readonly storage: Pick<Storage, "commit" | "now">;
  readonly registry: Pick<AccountRegistry, "find" | "change">;
  readonly baseUrl: string;
  readonly lifetimeMs: number;
  readonly log: Logger;
}

export function createPasswordReset({ storage, registry, baseUrl, lifetimeMs, log }: PasswordResetOptions): PasswordReset {
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
