import { operation } from "../operation.ts";
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

export const auth = {
  token: operation({
    method: "POST",
    path: "/auth/token",
    bodies: { "application/json": TokenRequest },
    replies: { 200: TokenResponse },
    credential: "none",
    rate: "auth",
    // A refresh token cannot be guessed, and a whole office may have one address.
    rateWhen: { name: "grantType", is: "password" },
    errors: ["unauthenticated"],
    summary: "Sign in with a password, or exchange a refresh token for a new pair of tokens",
  }),
  setup: operation({
    method: "POST",
    path: "/auth/setup",
    bodies: { "application/json": SetupRequest },
    replies: { 201: Account },
    credential: "none",
    rate: "auth",
    errors: ["already_exists", "link_expired"],
    summary: "Use a one-time setup link: make the first account, or set the password of a new one",
  }),
  logout: operation({ method: "POST", path: "/auth/logout", replies: { 204: null }, credential: "session", summary: "End this session" }),
  streamTicket: operation({
    method: "POST",
    path: "/auth/stream-ticket",
    bodies: { "application/json": StreamTicketRequest },
    replies: { 201: StreamTicket },
    credential: "any",
    summary: "Make a short-lived ticket that opens one resource's sockets and streams from a browser",
  }),
  me: operation({ method: "GET", path: "/auth/me", replies: { 200: Me }, credential: "any", summary: "What this credential is" }),
  updateMe: operation({
    method: "PATCH",
    path: "/auth/me",
    bodies: { "application/json": UpdateMeRequest },
    replies: { 200: Me },
    credential: "session",
    rate: "management",
    errors: ["unauthenticated", "already_exists"],
    summary: "Change one's own name, e-mail address or password",
  }),
} as const;
