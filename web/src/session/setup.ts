/** The one-time link that creates the first account, or sets the password of an account that an operator created. */

import type { Account } from "../../../api/schema/account.ts";
import { createApi } from "../../../client/index.ts";

export interface SetupLink {
  readonly token: string;
  /** The link creates the first account of the server, whose username is still free. */
  readonly isFirst: boolean;
  /** Username of the account that exists already; empty if the link does not say it. */
  readonly username: string;
}

/** Reads the link from the part of the address after `#`, which browsers neither send nor log. */
export function readSetupLink(hash: string): SetupLink | undefined {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const token = values.get("token") ?? "";
  return token === "" ? undefined : { token, isFirst: token.startsWith("first."), username: values.get("username") ?? "" };
}

export interface SetupInput {
  readonly token: string;
  readonly password: string;
  readonly username?: string;
  readonly displayName?: string;
}

/** Throws an ApiError if the server refuses. */
export async function redeemSetupLink(input: SetupInput): Promise<Account> {
  return createApi({ url: location.origin }).trpc.auth.setup.mutate(input);
}
