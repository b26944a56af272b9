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
    credential: "operator",
    rate: "management",
    secret: true,
    errors: ["already_exists"],
    summary: "Create an account; without a password the answer contains a one-time setup link",
    description:
      "Only operators can create accounts. The account gets a personal workspace. The service sends no mail: give the `setupUrl` to the person yourself. It is shown only in this answer and is valid for one hour.",
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
          description: "Only accounts whose username, name or e-mail address has words that start with each of these words.",
          example: "ana",
        })
        .optional(),
      disabled: z.boolean().describe("Only disabled accounts (`true`), or only enabled ones (`false`).").optional(),
    }),
    replies: {
      200: z
        .strictObject({ accounts: z.array(Account).describe("Accounts, newest first."), nextToken })
        .meta({ id: "AccountList", description: "A page of accounts." }),
    },
    credential: "operator",
    summary: "List accounts",
    description: "Only operators can list accounts. The newest account comes first.",
  }),
  get: operation({
    method: "GET",
    path: "/accounts/{username}",
    params: z.strictObject({ username: Username }),
    replies: { 200: Account },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "operator",
    summary: "Get an account",
    description:
      "Only operators can read accounts. The answer has an `ETag`; send it as `If-Match` with a change, so that two operators do not overwrite each other.",
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
    description:
      "Only operators can change accounts. A username never changes, and an account is disabled instead of deleted: its texts keep their author.",
    example: { disabled: true },
  }),
} as const;
