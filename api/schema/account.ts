/** Defines the schemas of accounts and sessions, and of the answer that describes the caller's own credential. */
import { z } from "zod";
import { Scope } from "../scopes.ts";
import { flag, int, isoTime, Line, number, Password, text, Username, unixSeconds, username } from "./common.ts";
import { exampleId, idText } from "./id.ts";

const displayName = (description: string) => text(description, "Ana Ruiz");
const NewDisplayName = Line(120).meta({ description: "Display name, 1 to 120 characters.", example: "Ana Ruiz" });
const Email = z.email().max(254).meta({
  description: "E-mail address, unique among accounts, at most 254 characters. The service sends no mail.",
  example: "ana@example.com",
});

export const Account = z
  .strictObject({
    username: username("Username; it never changes."),
    displayName: displayName("Display name.").optional(),
    email: text("E-mail address.", "ana@example.com").optional(),
    operator: flag("Whether the account can manage other accounts. This gives no access to content.", false),
    disabled: flag("Whether the account is disabled. Its sessions and keys are then refused.", false),
    createdAt: unixSeconds("When the account was created."),
  })
  .meta({ id: "Account", description: "An account of a person." });
export type Account = z.infer<typeof Account>;

/**
 * `setupUrl` is a one-time link by which the person sets a password. It is present only in this answer, and only if no
 * password was given.
 */
export const CreatedAccount = Account.extend({
  setupUrl: text(
    "One-time link to set the password, valid for one hour. It is present only in this answer, and only if no password was given.",
    "http://127.0.0.1:8787/setup#token=…",
  ).optional(),
}).meta({ id: "CreatedAccount", description: "A new account." });
export type CreatedAccount = z.infer<typeof CreatedAccount>;

export const CreateAccountRequest = z
  .strictObject({
    username: Username,
    displayName: NewDisplayName.optional(),
    email: Email.optional(),
    operator: flag("Whether the account may manage other accounts; false by default.", false).optional(),
    password: Password.describe("Password, 10 to 200 characters. Without it, the answer contains a setup link.").optional(),
  })
  .meta({ id: "CreateAccountRequest", description: "The account to create." });

/** `null` removes the name or the address. */
const profile = {
  displayName: NewDisplayName.nullable().describe("New display name; `null` removes it.").optional(),
  email: Email.nullable().describe("New e-mail address; `null` removes it.").optional(),
};

export const UpdateAccountRequest = z
  .strictObject({
    ...profile,
    operator: flag("Whether the account may manage other accounts.", false).optional(),
    disabled: flag("True disables the account: its sessions and keys stop working at once.", true).optional(),
  })
  .meta({ id: "UpdateAccountRequest", description: "The fields to change. Fields that are left out do not change." });

const passwordSignIn = {
  username: z.string().max(100).meta({ description: "Username, in any case.", example: "ana" }),
  password: z.string().max(1000).meta({ description: "Password of the account.", example: "correct horse battery" }),
};

const PasswordGrant = z.strictObject({
  grantType: z.literal("password").describe("Sign in with a password."),
  ...passwordSignIn,
});
const RefreshGrant = z.strictObject({
  grantType: z.literal("refresh_token").describe("Exchange a refresh token for a new pair of tokens."),
  refreshToken: z.string().max(1000).meta({
    description:
      "The newest refresh token of the session. The previous token is accepted for 30 seconds after its first use; any older token ends the session.",
    example: "svcr_…",
  }),
});

export const TokenRequest = z
  .discriminatedUnion("grantType", [PasswordGrant, RefreshGrant])
  .meta({ id: "TokenRequest", description: "Credentials of a sign-in: a password, or a refresh token." });
export type TokenRequest = z.infer<typeof TokenRequest>;

const accessToken = text("JSON Web Token for `Authorization: Bearer`.", "eyJhbGciOiJFZERTQSJ9…");
const expiresIn = number("Seconds until the access token expires.", 900);

export const TokenResponse = z
  .strictObject({
    accessToken,
    tokenType: z.literal("Bearer").describe("Type of the access token in the header `Authorization`."),
    expiresIn,
    refreshToken: text("Token for the next refresh; it replaces the token that was sent.", "svcr_…"),
  })
  .meta({ id: "TokenResponse", description: "The tokens of a session." });
export type TokenResponse = z.infer<typeof TokenResponse>;

export const OpenWebSessionRequest = z
  .strictObject(passwordSignIn)
  .meta({ id: "OpenWebSessionRequest", description: "Sign-in of the web app with a password." });
export type OpenWebSessionRequest = z.infer<typeof OpenWebSessionRequest>;

export const WebSessionToken = z
  .strictObject({ accessToken, expiresIn })
  .meta({ id: "WebSessionToken", description: "The access token of a web session, whose refresh token is in a cookie." });

/** `username` is required only for the first account. The setup link of an existing account already identifies it. */
export const SetupRequest = z
  .strictObject({
    token: z.string().max(1000).meta({ description: "Token of the setup link.", example: "eyJ2IjoxfQ" }),
    password: Password,
    username: Username.describe("Username of the first account. A link for an existing account does not need it.").optional(),
    displayName: NewDisplayName.optional(),
  })
  .meta({ id: "SetupRequest", description: "Token of a setup link, and the password to set." });

export const StreamTicketRequest = z
  .strictObject({
    resource: z
      .string()
      .regex(/^(article:art|run:run|workspace:ws)_[0-9A-Z]{26}$/, "must be article:art_…, run:run_… or workspace:ws_…")
      .meta({
        description: "Resource that the ticket opens: `article:<articleId>`, `run:<runId>` or `workspace:<workspaceId>`.",
        example: `article:${exampleId("art")}`,
      }),
  })
  .meta({ id: "StreamTicketRequest", description: "The resource whose sockets and streams the ticket opens." });

export const StreamTicket = z
  .strictObject({
    ticket: text("Ticket for `?ticket=` in the URL of a socket or stream.", "eyJhbGciOiJFZERTQSJ9…"),
    expiresAt: isoTime("When the ticket expires."),
  })
  .meta({ id: "StreamTicket", description: "A short-lived credential for the sockets and streams of one resource." });
export type StreamTicket = z.infer<typeof StreamTicket>;

/**
 * The account and credential of the request. Only sessions receive `email`. `workspaces` is the number of workspaces
 * that the credential can see.
 */
export const Me = z
  .strictObject({
    username: username("Username of the account."),
    displayName: displayName("Display name.").optional(),
    email: text("E-mail address. It is present only for sessions.", "ana@example.com").optional(),
    operator: flag("Whether the account manages other accounts.", false),
    credential: z.enum(["session", "key"]).describe("Kind of credential: a person's session, or an API key."),
    keyId: idText("key", "Id of the API key. Absent for a session.").optional(),
    scopes: z.array(Scope).describe("Scopes of the API key. Absent means full access.").optional(),
    workspaces: int("Number of workspaces that this credential can see.", 3),
  })
  .meta({ id: "Me", description: "The account and the credential that made the request." });
export type Me = z.infer<typeof Me>;

/** A new password requires the current one and ends all other sessions. */
export const UpdateMeRequest = z
  .strictObject({
    ...profile,
    password: Password.describe("New password, 10 to 200 characters. It ends all other sessions and needs `currentPassword`.").optional(),
    currentPassword: z
      .string()
      .max(1000)
      .meta({ description: "Current password. Required with `password`.", example: "correct horse battery" })
      .optional(),
  })
  .refine((body) => body.password === undefined || body.currentPassword !== undefined, {
    path: ["currentPassword"],
    message: "is required to set a new password",
  })
  .meta({ id: "UpdateMeRequest", description: "The fields to change. Fields that are left out do not change." });
