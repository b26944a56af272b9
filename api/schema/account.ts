/** Accounts, sessions and what a credential says of itself. */
import { z } from "zod";
import { Scope } from "../scopes.ts";
import { IsoTime, Line, Password, UnixSeconds, Username } from "./common.ts";

const Email = z.email().max(254);

export const Account = z
  .strictObject({
    username: z.string(),
    displayName: z.string().optional(),
    email: z.string().optional(),
    operator: z.boolean(),
    disabled: z.boolean(),
    createdAt: UnixSeconds,
  })
  .meta({ id: "Account" });
export type Account = z.infer<typeof Account>;

/** `setupUrl` appears once, when no password was given: the one-time link by which the person sets one. */
export const CreatedAccount = Account.extend({ setupUrl: z.string().optional() }).meta({ id: "CreatedAccount" });
export type CreatedAccount = z.infer<typeof CreatedAccount>;

export const CreateAccountRequest = z
  .strictObject({
    username: Username,
    displayName: Line(120).optional(),
    email: Email.optional(),
    operator: z.boolean().optional(),
    password: Password.optional(),
  })
  .meta({ id: "CreateAccountRequest" });

export const UpdateAccountRequest = z
  .strictObject({
    displayName: Line(120).optional(),
    email: Email.optional(),
    operator: z.boolean().optional(),
    disabled: z.boolean().optional(),
  })
  .meta({ id: "UpdateAccountRequest" });

export const TokenRequest = z
  .discriminatedUnion("grantType", [
    z.strictObject({ grantType: z.literal("password"), username: z.string().max(100), password: z.string().max(1000) }),
    z.strictObject({ grantType: z.literal("refresh_token"), refreshToken: z.string().max(1000) }),
  ])
  .meta({ id: "TokenRequest" });
export type TokenRequest = z.infer<typeof TokenRequest>;

/** `expiresIn` in seconds. */
export const TokenResponse = z
  .strictObject({ accessToken: z.string(), tokenType: z.literal("Bearer"), expiresIn: z.number(), refreshToken: z.string() })
  .meta({ id: "TokenResponse" });
export type TokenResponse = z.infer<typeof TokenResponse>;

/** `username` is needed for the first account only; a link made for an account knows its own. */
export const SetupRequest = z
  .strictObject({ token: z.string().max(1000), password: Password, username: Username.optional(), displayName: Line(120).optional() })
  .meta({ id: "SetupRequest" });

export const StreamTicketRequest = z
  .strictObject({
    resource: z.string().regex(/^(article:art|run:run|workspace:ws)_[0-9A-Z]{26}$/, "must be article:art_…, run:run_… or workspace:ws_…"),
  })
  .meta({ id: "StreamTicketRequest" });

export const StreamTicket = z.strictObject({ ticket: z.string(), expiresAt: IsoTime }).meta({ id: "StreamTicket" });
export type StreamTicket = z.infer<typeof StreamTicket>;

/** What the credential of the request is; `workspaces` counts those it can see. */
export const Me = z
  .strictObject({
    username: z.string(),
    displayName: z.string().optional(),
    operator: z.boolean(),
    credential: z.enum(["session", "key"]),
    keyId: z.string().optional(),
    scopes: z.array(Scope).optional(),
    workspaces: z.int(),
  })
  .meta({ id: "Me" });
export type Me = z.infer<typeof Me>;

/** A new password needs the current one and ends the other sessions. */
export const UpdateMeRequest = z
  .strictObject({
    displayName: Line(120).optional(),
    email: Email.optional(),
    password: Password.optional(),
    currentPassword: z.string().max(1000).optional(),
  })
  .refine((body) => body.password === undefined || body.currentPassword !== undefined, {
    path: ["currentPassword"],
    message: "is required to set a new password",
  })
  .meta({ id: "UpdateMeRequest" });
