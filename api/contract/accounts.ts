import { z } from "zod";
import { Account, CreateAccountRequest, CreatedAccount, UpdateAccountRequest } from "../schema/account.ts";
import { nextToken, pageQuery, Username } from "../schema/common.ts";
import { operation } from "./operation.ts";

export const accounts = {
  create: operation({
    method: "POST",
    path: "/accounts",
    bodies: { "application/json": CreateAccountRequest },
    replies: { 201: CreatedAccount },
    location: "/accounts/{username}",
    credential: "operator",
    rate: "management",
    secret: true,
    errors: ["already_exists"],
    summary: "Make an account; without a password the answer carries a one-time setup link",
    description:
      "For operators. The account gets a personal workspace. The service sends no mail: hand the `setupUrl` over yourself; it is shown this once and is valid for one hour.",
    example: { username: "bea", displayName: "Bea Lind", email: "bea@example.com" },
  }),
  list: operation({
    method: "GET",
    path: "/accounts",
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
    replies: {
      200: z
        .strictObject({ accounts: z.array(Account).describe("Accounts, newest first."), nextToken })
        .meta({ id: "AccountList", description: "A page of accounts." }),
    },
    credential: "operator",
    summary: "List accounts",
    description: "For operators. Newest first.",
  }),
  get: operation({
    method: "GET",
    path: "/accounts/{username}",
    params: z.strictObject({ username: Username }),
    replies: { 200: Account },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "operator",
    summary: "Get an account",
    description: "The answer has an `ETag`; send it as `If-Match` with a change, so that two operators do not overwrite each other.",
  }),
  update: operation({
    method: "PATCH",
    path: "/accounts/{username}",
    params: z.strictObject({ username: Username.describe("Username of the account.") }),
    bodies: { "application/json": UpdateAccountRequest },
    replies: { 200: Account },
    credential: "operator",
    rate: "management",
    ifMatch: true,
    errors: ["already_exists"],
    summary: "Change an account; disabling it stops its sessions and keys at once",
    description: "For operators. Usernames never change, and accounts are disabled, not deleted: what they wrote stays theirs.",
    example: { disabled: true },
  }),
} as const;
