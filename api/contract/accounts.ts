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
    summary: "Create an account; without a password the answer contains a one-time setup link",
    description:
      "Only operators can create accounts. The account gets a personal workspace. The service sends no mail: give the `setupUrl` to the person yourself. It is shown only in this answer and is valid for one hour.",
    example: { username: "bea", displayName: "Bea Lind", email: "bea@example.com" },
  }),
  list: account.list({
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
    summary: "List accounts",
    description: "Only operators can list accounts. The newest account comes first.",
  }),
  get: account.get({
    summary: "Get an account",
    description:
      "Only operators can read accounts. The answer has an `ETag`; send it as `If-Match` with a change, so that two operators do not overwrite each other.",
  }),
  update: account.update(UpdateAccountRequest, {
    replyHeaders: {},
    errors: ["already_exists"],
    summary: "Change an account; disabling it stops its sessions and keys at once",
    description:
      "Only operators can change accounts. A username never changes, and an account is disabled instead of deleted: its texts keep their author.",
    example: { disabled: true },
  }),
} as const;
