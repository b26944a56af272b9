/**
 * Defines the schemas of API keys (specification: API key; Authentication). The key value itself is only in
 * `CreatedApiKey`.
 */
import { z } from "zod";
import { Scope } from "../scopes.ts";
import { isoTime, Line, text, username } from "./common.ts";
import { exampleId, idText, WorkspaceId } from "./id.ts";

export const ApiKeyState = z
  .enum(["active", "revoked", "expired"])
  .meta({ id: "ApiKeyState", description: "State of an API key. Only an active key is accepted." });
export type ApiKeyState = z.infer<typeof ApiKeyState>;

/** Without `scopes` the key has full access. `workspaceIds` restricts the key to those workspaces. */
export const ApiKey = z
  .strictObject({
    keyId: idText("key", "Id of the key."),
    name: text("Name of the key.", "Build server"),
    description: text("Purpose of the key.", "Publishes the changelog.").optional(),
    prefix: text("First 12 characters of the key, so that a person can recognise it.", "svc_4fGh2kLm"),
    state: ApiKeyState,
    scopes: z.array(Scope).describe("Scopes of the key. Absent means full access.").optional(),
    workspaceIds: z
      .array(z.string())
      .meta({
        description: "Workspaces that the key is limited to. Absent means all workspaces of the account.",
        example: [exampleId("ws")],
      })
      .optional(),
    createdAt: isoTime("When the key was created."),
    createdBy: username("Username of the account that created the key."),
    lastUsedAt: isoTime("When the key was last used, accurate to one minute. Absent if it was never used.").optional(),
    expiresAt: isoTime("When the key expires. Absent if it never expires.").optional(),
    revokedAt: isoTime("When the key was revoked.").optional(),
  })
  .meta({ id: "ApiKey", description: "An API key, without its value." });
export type ApiKey = z.infer<typeof ApiKey>;

export const CreatedApiKey = ApiKey.extend({
  key: text("Value of the key, for the header `x-api-key`. It is shown only in this answer.", "svc_4fGh2kLm_…"),
}).meta({ id: "CreatedApiKey", description: "A new API key with its value." });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

const Name = Line(120).meta({ description: "Name of the key, 1 to 120 characters.", example: "Build server" });
const Description = z
  .string()
  .max(1000)
  .meta({ description: "Purpose of the key, at most 1,000 characters.", example: "Publishes the changelog." });

export const CreateApiKeyRequest = z
  .strictObject({
    name: Name,
    description: Description.optional(),
    scopes: z
      .array(Scope)
      .min(1)
      .max(100)
      .describe("Scopes of the key. If left out, the key gets full access, which only a person's session can give.")
      .optional(),
    workspaceIds: z
      .array(WorkspaceId)
      .min(1)
      .max(100)
      .describe("Workspaces to limit the key to; all workspaces of the account by default.")
      .optional(),
    expiresAt: isoTime("When the key expires. By default it never expires.").optional(),
  })
  .meta({ id: "CreateApiKeyRequest", description: "The API key to create. A key can never do more than the credential that creates it." });
export type CreateApiKeyRequest = z.infer<typeof CreateApiKeyRequest>;

export const UpdateApiKeyRequest = z
  .strictObject({ name: Name.optional(), description: Description.optional() })
  .meta({ id: "UpdateApiKeyRequest", description: "The fields to change. Fields that are left out do not change." });
