import { z } from "zod";
import { Account, CreateAccountRequest, CreatedAccount, UpdateAccountRequest } from "../schema/account.ts";
import { pageQuery, Username } from "../schema/common.ts";
import { resource } from "./resource.ts";

const account = resource({
  one: "an account",
  many: "accounts",
  field: "accounts",
  path: "/accounts",
  id: { username: Username.describe("Username of the account.") },
  schema: Account,
  read: { credential: "operator" },
  write: { credential: "operator", rate: "management" },
});

export const accounts = {
  create: account.create(CreateAccountRequest, {
    replies: { 201: CreatedAccount },
    replyHeaders: {},
    secret: true,
    errors: ["already_exists"],
    summary: "Make an account; without a password the answer carries a one-time setup link",
    description:
      "For operators. The account gets a personal workspace. The service sends no mail: hand the `setupUrl` over yourself; it is shown this once and is valid for one hour.",
    example: { username: "bea", displayName: "Bea Lind", email: "bea@example.com" },
  }),
  list: account.list({
    query: z.strictObject({
      ...pageQuery,
      q: z
        .string()
        .max(200)
        .meta({
          description: "Only accounts with words in username, name or e-mail address that start with each of these words.",
          example: "ana",
        })
        .optional(),
      disabled: z.boolean().describe("Only accounts that are switched off (`true`) or not (`false`).").optional(),
    }),
    summary: "List accounts",
    description: "For operators. Newest first.",
  }),
  get: account.get({
    summary: "Get an account",
    description: "The answer has an `ETag`; send it as `If-Match` with a change, so that two operators do not overwrite each other.",
  }),
  update: account.update(UpdateAccountRequest, {
    replyHeaders: {},
    errors: ["already_exists"],
    summary: "Change an account; disabling it stops its sessions and keys at once",
    description: "For operators. Usernames never change, and accounts are disabled, not deleted: what they wrote stays theirs.",
    example: { disabled: true },
  }),
} as const;
