import { z } from "zod";
import { operation } from "../operation.ts";
import { Account, CreateAccountRequest, CreatedAccount, UpdateAccountRequest } from "../schema/account.ts";
import { pageQuery, Username } from "../schema/common.ts";

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
    summary: "Make an account; without a password the answer carries a one-time setup link",
  }),
  list: operation({
    method: "GET",
    path: "/accounts",
    query: z.strictObject({ ...pageQuery, q: z.string().max(200).optional(), disabled: z.boolean().optional() }),
    replies: { 200: z.strictObject({ accounts: z.array(Account), nextToken: z.string().optional() }).meta({ id: "AccountList" }) },
    credential: "operator",
    summary: "List accounts",
  }),
  update: operation({
    method: "PATCH",
    path: "/accounts/{username}",
    params: z.strictObject({ username: Username }),
    bodies: { "application/json": UpdateAccountRequest },
    replies: { 200: Account },
    credential: "operator",
    rate: "management",
    errors: ["already_exists"],
    summary: "Change an account; disabling it stops its sessions and keys at once",
  }),
} as const;
