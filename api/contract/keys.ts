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
    summary: "Create an API key; its value is shown only in this answer",
    description:
      "A key cannot have more rights than the credential that creates it: a request for more scopes, more workspaces or a later expiry gets 403 `scope_escalation`. Only a signed-in person can create a key with full access or with `keys:manage`. An account has at most 50 active keys.",
    example: { name: "Build server", scopes: ["articles:read", "articles:write"], expiresAt: "2027-11-21T00:00:00.000Z" },
  }),
  list: key.list({
    query: z.strictObject({ ...pageQuery, state: ApiKeyState.describe("Only keys in this state.").optional() }),
    summary: "List your API keys",
    description: "The newest key comes first. The values of keys are never listed. Without `state`, keys in every state are listed.",
  }),
  self: operation({
    method: "GET",
    path: "/api-keys/self",
    replies: { 200: ApiKey },
    replyHeaders: etag,
    credential: "any",
    summary: "Get the API key that made this request",
    description: "Needs no scope: a key can always read its own description. A session has no key and gets 404.",
  }),
  get: key.get({
    summary: "Get an API key",
    description: "The answer does not contain the value of the key, which is shown only when the key is created.",
  }),
  update: key.update(UpdateApiKeyRequest, {
    summary: "Rename or describe an API key",
    description: "The scopes, workspaces and expiry of a key never change: create another key instead.",
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
    summary: "Revoke an API key; it stops working at once (needs keys:manage, unless the key revokes itself)",
    description: "The sockets of the key close with code 4410 and its streams end. Revoking a revoked key changes nothing.",
  }),
  delete: key.delete({
    errors: ["key_active"],
    summary: "Delete a revoked or expired API key permanently",
    description: "An active key answers 409 `key_active`: revoke it first.",
  }),
} as const;
