import { z } from "zod";
import { ApiKey, ApiKeyState, CreateApiKeyRequest, CreatedApiKey, UpdateApiKeyRequest } from "../schema/apiKey.ts";
import { pageQuery } from "../schema/common.ts";
import { KeyId } from "../schema/id.ts";
import { operation } from "./operation.ts";
import { etag, resource } from "./resource.ts";

const read = { credential: "any", scopes: ["keys:manage"] } as const;

const key = resource({
  one: "an API key",
  many: "API keys",
  field: "apiKeys",
  path: "/api-keys",
  id: { keyId: KeyId },
  schema: ApiKey,
  read,
  write: { ...read, rate: "management" },
});

export const keys = {
  create: key.create(CreateApiKeyRequest, {
    replies: { 201: CreatedApiKey },
    replyHeaders: {},
    secret: true,
    errors: ["scope_escalation", "interactive_session_required", "limit_reached"],
    summary: "Create an API key; the key value is shown this once",
    description:
      "No credential gives more than it has: more scopes, more workspaces or a later expiry answer 403 `scope_escalation`. A key with full access, or one with `keys:manage`, needs a person's session. An account has at most 50 active keys.",
    example: { name: "Build server", scopes: ["articles:read", "articles:write"], expiresAt: "2027-11-21T00:00:00.000Z" },
  }),
  list: key.list({
    query: z.strictObject({ ...pageQuery, state: ApiKeyState.describe("Only keys in this state.").optional() }),
    summary: "List your API keys",
    description: "Newest first, without their values, in every state unless `state` asks for one.",
  }),
  self: operation({
    method: "GET",
    path: "/api-keys/self",
    replies: { 200: ApiKey },
    replyHeaders: etag,
    credential: "any",
    summary: "Get the API key that made this request",
    description: "Needs no scope: a key may always look at itself. A session has no key and gets 404.",
  }),
  get: key.get({
    summary: "Get an API key",
    description: "Without its value, which was shown when it was made.",
  }),
  update: key.update(UpdateApiKeyRequest, {
    summary: "Rename or describe an API key",
    description: "Scopes, workspaces and expiry of a key never change: make another one.",
    example: { name: "Old build server" },
  }),
  revoke: operation({
    method: "POST",
    path: "/api-keys/{keyId}/revoke",
    params: z.strictObject({ keyId: KeyId }),
    replies: { 200: ApiKey },
    replyHeaders: etag,
    credential: "any",
    rate: "management",
    errors: ["invalid_transition"],
    summary: "Revoke an API key: it stops working with this answer (needs keys:manage, or the key itself)",
    description: "Its sockets close with code 4410 and its streams end. Revoking a revoked key changes nothing.",
  }),
  delete: key.delete({
    errors: ["key_active"],
    summary: "Delete a revoked or expired API key for good",
    description: "An active key is refused with 409 `key_active`: revoke it first.",
  }),
} as const;
