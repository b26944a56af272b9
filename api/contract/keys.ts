import { z } from "zod";
import { ApiKey, ApiKeyState, CreateApiKeyRequest, CreatedApiKey, UpdateApiKeyRequest } from "../schema/apiKey.ts";
import { nextToken, pageQuery } from "../schema/common.ts";
import { KeyId } from "../schema/id.ts";
import { operation } from "./operation.ts";

const params = z.strictObject({ keyId: KeyId });

export const keys = {
  create: operation({
    method: "POST",
    path: "/api-keys",
    bodies: { "application/json": CreateApiKeyRequest },
    replies: { 201: CreatedApiKey },
    location: "/api-keys/{keyId}",
    credential: "any",
    scopes: ["keys:manage"],
    rate: "management",
    secret: true,
    errors: ["scope_escalation", "interactive_session_required", "limit_reached"],
    summary: "Create an API key; the key value is shown this once",
    description:
      "No credential gives more than it has: more scopes, more workspaces or a later expiry answer 403 `scope_escalation`. A key with full access, or one with `keys:manage`, needs a person's session. An account has at most 50 active keys.",
    example: { name: "Build server", scopes: ["articles:read", "articles:write"], expiresAt: "2027-11-21T00:00:00.000Z" },
  }),
  list: operation({
    method: "GET",
    path: "/api-keys",
    query: z.strictObject({ ...pageQuery, state: ApiKeyState.describe("Only keys in this state.").optional() }),
    replies: {
      200: z
        .strictObject({ apiKeys: z.array(ApiKey).describe("API keys, newest first."), nextToken })
        .meta({ id: "ApiKeyList", description: "A page of API keys." }),
    },
    credential: "any",
    scopes: ["keys:manage"],
    summary: "List your API keys",
    description: "Newest first, without their values, in every state unless `state` asks for one.",
  }),
  self: operation({
    method: "GET",
    path: "/api-keys/self",
    replies: { 200: ApiKey },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "any",
    summary: "Get the API key that made this request",
    description: "Needs no scope: a key may always look at itself. A session has no key and gets 404.",
  }),
  get: operation({
    method: "GET",
    path: "/api-keys/{keyId}",
    params,
    replies: { 200: ApiKey },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "any",
    scopes: ["keys:manage"],
    summary: "Get an API key",
    description: "Without its value, which was shown when it was made.",
  }),
  update: operation({
    method: "PATCH",
    path: "/api-keys/{keyId}",
    params,
    bodies: { "application/json": UpdateApiKeyRequest },
    replies: { 200: ApiKey },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "any",
    scopes: ["keys:manage"],
    rate: "management",
    ifMatch: true,
    summary: "Rename or describe an API key",
    description: "Scopes, workspaces and expiry of a key never change: make another one.",
    example: { name: "Old build server" },
  }),
  revoke: operation({
    method: "POST",
    path: "/api-keys/{keyId}/revoke",
    params,
    replies: { 200: ApiKey },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "any",
    rate: "management",
    errors: ["invalid_transition"],
    summary: "Revoke an API key: it stops working with this answer (needs keys:manage, or the key itself)",
    description: "Its sockets close with code 4410 and its streams end. Revoking a revoked key changes nothing.",
  }),
  delete: operation({
    method: "DELETE",
    path: "/api-keys/{keyId}",
    params,
    replies: { 204: null },
    credential: "any",
    scopes: ["keys:manage"],
    rate: "management",
    ifMatch: true,
    errors: ["key_active"],
    summary: "Delete a revoked or expired API key for good",
    description: "An active key is refused with 409 `key_active`: revoke it first.",
  }),
} as const;
