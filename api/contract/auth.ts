import {
  Account,
  Me,
  SetupRequest,
  StreamTicket,
  StreamTicketRequest,
  TokenRequest,
  TokenResponse,
  UpdateMeRequest,
} from "../schema/account.ts";
import { operation } from "./operation.ts";

export const auth = {
  token: operation({
    method: "POST",
    path: "/auth/token",
    bodies: { "application/json": TokenRequest },
    replies: { 200: TokenResponse },
    credential: "none",
    rate: "auth",
    // Only password logins count against this rate. A refresh token cannot be guessed, and a whole office may share one
    // address.
    rateWhen: { name: "grantType", is: "password" },
    errors: ["unauthenticated"],
    summary: "Sign in with a password, or exchange a refresh token for a new pair of tokens",
    description:
      "The access token is valid for 15 minutes, the refresh token for 30 days. Each refresh replaces the refresh token. A replaced token is accepted for 30 seconds after its first use and gets the same new tokens; later use ends the session. Sign-ins with a password are limited for each client address to a burst of 20, then ten a minute.",
    example: { grantType: "password", username: "ana", password: "correct horse battery" },
  }),
  setup: operation({
    method: "POST",
    path: "/auth/setup",
    bodies: { "application/json": SetupRequest },
    replies: { 201: Account },
    // The new user may not read `/accounts`, but can read the own account after signing in.
    location: "/auth/me",
    credential: "none",
    rate: "auth",
    errors: ["already_exists", "link_expired"],
    summary: "Use a one-time setup link: create the first account, or set the password of a new one",
    description: "`token` is the part of the link after `#`. A link works once and is valid for one hour.",
    example: { token: "eyJ2IjoxfQ", password: "correct horse battery" },
  }),
  logout: operation({
    method: "POST",
    path: "/auth/logout",
    replies: { 204: null },
    credential: "session",
    summary: "End this session",
    description: "The access and refresh tokens of the session stop working at once.",
  }),
  streamTicket: operation({
    method: "POST",
    path: "/auth/stream-ticket",
    bodies: { "application/json": StreamTicketRequest },
    replies: { 201: StreamTicket },
    credential: "any",
    summary: "Create a short-lived ticket that opens the sockets and streams of one resource in a browser",
    description:
      "Browsers cannot send headers with a WebSocket or an EventSource, so the ticket is sent in the URL as `?ticket=`. It is valid for one hour, opens only that resource, and can be used again until it expires. It ends with the credential that created it. The caller needs the read scope of the resource.",
    example: { resource: "article:art_01KAHX0000050123456789ABCD" },
  }),
  me: operation({
    method: "GET",
    path: "/auth/me",
    replies: { 200: Me },
    credential: "any",
    summary: "Get the account and credential of this request",
    description: "The answer names the account, the kind of credential and, for an API key, its scopes.",
  }),
  updateMe: operation({
    method: "PATCH",
    path: "/auth/me",
    bodies: { "application/json": UpdateMeRequest },
    replies: { 200: Me },
    credential: "session",
    rate: "management",
    errors: ["unauthenticated", "already_exists"],
    summary: "Change your own name, e-mail address or password",
    description: "A new password needs `currentPassword` and ends all other sessions of the account.",
    example: { displayName: "Ana R." },
  }),
} as const;
