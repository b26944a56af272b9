import { z } from "zod";
import { operation } from "../operation.ts";
import { ApiKey, ApiKeyState, CreateApiKeyRequest, CreatedApiKey, UpdateApiKeyRequest } from "../schema/apiKey.ts";
import { pageQuery } from "../schema/common.ts";
import { KeyId } from "../schema/id.ts";

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
    summary: "Create an API key; the key value is shown this once",
  }),
  list: operation({
    method: "GET",
    path: "/api-keys",
    query: z.strictObject({ ...pageQuery, state: ApiKeyState.optional() }),
    replies: { 200: z.strictObject({ apiKeys: z.array(ApiKey), nextToken: z.string().optional() }).meta({ id: "ApiKeyList" }) },
    credential: "any",
    scopes: ["keys:manage"],
    summary: "List one's API keys",
  }),
  self: operation({
    method: "GET",
    path: "/api-keys/self",
    replies: { 200: ApiKey },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "any",
    summary: "The API key that made this request",
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
  }),
} as const;
