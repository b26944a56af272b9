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
    credential: "any",
    scopes: ["keys:manage"],
    rate: "management",
    secret: true,
    errors: ["scope_escalation", "interactive_session_required", "limit_reached"],
    summary: "Create an API key; its value is shown only in this answer",
    description:
      "A key can do no more than the credential that creates it: more scopes, more workspaces or a later expiry answer 403 `scope_escalation`. Only a signed-in person can create a key with full access or with `keys:manage`. An account has at most 50 active keys.",
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
    description: "The newest key comes first. The values of keys are never listed. Without `state`, keys in every state are listed.",
  }),
  self: operation({
    method: "GET",
    path: "/api-keys/self",
    replies: { 200: ApiKey },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "any",
    summary: "Get the API key that made this request",
    description: "Needs no scope: a key can always read its own description. A session has no key and gets 404.",
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
    description: "The answer does not contain the value of the key, which is shown only when the key is created.",
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
    description: "The scopes, workspaces and expiry of a key never change: create another key instead.",
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
    summary: "Revoke an API key; it stops working at once (needs keys:manage, unless the key revokes itself)",
    description: "The sockets of the key close with code 4410 and its streams end. Revoking a revoked key changes nothing.",
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
    summary: "Delete a revoked or expired API key permanently",
    description: "An active key answers 409 `key_active`: revoke it first.",
  }),
} as const;
