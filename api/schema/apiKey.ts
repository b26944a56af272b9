/** API keys (specification: API key; Authentication). The key text itself appears only in `CreatedApiKey`. */
import { z } from "zod";
import { Scope } from "../scopes.ts";
import { IsoTime, Line } from "./common.ts";
import { WorkspaceId } from "./id.ts";

export const ApiKeyState = z.enum(["active", "revoked", "expired"]).meta({ id: "ApiKeyState" });
export type ApiKeyState = z.infer<typeof ApiKeyState>;

/** `scopes` absent: full access. `workspaceIds` narrows to those workspaces. */
export const ApiKey = z
  .strictObject({
    keyId: z.string(),
    name: z.string(),
    description: z.string().optional(),
    prefix: z.string(),
    state: ApiKeyState,
    scopes: z.array(Scope).optional(),
    workspaceIds: z.array(z.string()).optional(),
    createdAt: IsoTime,
    createdBy: z.string(),
    lastUsedAt: IsoTime.optional(),
    expiresAt: IsoTime.optional(),
    revokedAt: IsoTime.optional(),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof ApiKey>;

export const CreatedApiKey = ApiKey.extend({ key: z.string() }).meta({ id: "CreatedApiKey" });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

export const CreateApiKeyRequest = z
  .strictObject({
    name: Line(120),
    description: z.string().max(1000).optional(),
    scopes: z.array(Scope).min(1).max(100).optional(),
    workspaceIds: z.array(WorkspaceId).min(1).max(100).optional(),
    expiresAt: IsoTime.optional(),
  })
  .meta({ id: "CreateApiKeyRequest" });
export type CreateApiKeyRequest = z.infer<typeof CreateApiKeyRequest>;

export const UpdateApiKeyRequest = z
  .strictObject({ name: Line(120).optional(), description: z.string().max(1000).optional() })
  .meta({ id: "UpdateApiKeyRequest" });
