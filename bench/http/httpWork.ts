/**
 * Defines the work that every server of the HTTP comparison does: the same credentials behind the same SHA-256 lookup,
 * the same workspace and role, and the same article. There is no store and no durable write, so only the surfaces
 * differ.
 */
import { hash } from "node:crypto";
import { AppError } from "../../api/schema/error.ts";
import type { Access, Principal } from "../../server/domain/call/call.ts";
import type { AccessResolver, Authenticator } from "../../server/domain/call/ports.ts";

/** The rate is enabled but never reached, so every request still draws from its bucket. */
export const rate = { count: 1e9, seconds: 1, burst: 1e9 };

export const apiKey = "svc_bench001_0123456789abcdefghijklmnopqrstuv012345";
export const workspaceId = "ws_01KAHX0000050123456789ABCD";
export const articleId = "art_01KAHX0000050123456789ABCD";

const principals = new Map<string, Principal>([
  [
    hash("sha256", apiKey),
    {
      kind: "key",
      accountId: "usr_01KAHX0000030123456789ABCD",
      username: "ana",
      operator: false,
      keyId: "key_01KAHX0000030123456789ABCD",
      scopes: ["articles:write", "workspaces:read"],
    },
  ],
]);
const access = new Map<string, Access>([
  [workspaceId, { workspaceId, partition: 5, role: "write" }],
  [articleId, { workspaceId, partition: 5, role: "write" }],
]);

export const authenticator: Authenticator = {
  async authenticate({ apiKey: key = "" }) {
    const principal = principals.get(hash("sha256", key));
    if (principal === undefined) throw new AppError("unauthenticated", "No such key.");
    return principal;
  },
};

export const accessResolver: AccessResolver = {
  async resolve(_principal, _kind, id) {
    return access.get(id);
  },
};

export function toArticle(title: string) {
  return {
    articleId,
    workspaceId,
    folderId: null,
    title,
    slug: "how-to-write-together",
    revision: 41,
    contentHash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    files: ["content.md" as const, "outline.md" as const],
    wordCount: 1204,
    createdBy: "ana",
    createdAt: 1_763_683_200.123,
    updatedBy: "ben",
    updatedAt: 1_763_683_999.5,
  };
}
