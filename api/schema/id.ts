/** Identifiers on the wire: a prefix and a ULID whose characters 11 and 12 are the partition number. */
import { z } from "zod";

export const idPrefixes = [
  "usr",
  "ses",
  "key",
  "ws",
  "inv",
  "art",
  "fld",
  "tpl",
  "rev",
  "rpl",
  "cmt",
  "top",
  "run",
  "apr",
  "job",
  "cnv",
  "evt",
  "dlv",
  "whk",
] as const;
export type IdPrefix = (typeof idPrefixes)[number];

/** Crockford's base 32, in which ids are written. */
export const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** `<prefix>_` + 10 characters of time + 2 of partition (`00` … `1Z`) + 14 random ones. */
export function idPattern(prefix: IdPrefix): RegExp {
  return new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{9}[01][0-9A-HJKMNP-TV-Z]{15}$`);
}

function idSchema<const Prefix extends IdPrefix, const Name extends string>(prefix: Prefix, _brand: Name) {
  return z.string().regex(idPattern(prefix), `must be an id of the form ${prefix}_ followed by 26 characters`).brand<Name>();
}

export const KeyId = idSchema("key", "KeyId");
export type KeyId = z.infer<typeof KeyId>;
export const WorkspaceId = idSchema("ws", "WorkspaceId");
export type WorkspaceId = z.infer<typeof WorkspaceId>;
export const ArticleId = idSchema("art", "ArticleId");
export type ArticleId = z.infer<typeof ArticleId>;
export const CommitId = idSchema("cmt", "CommitId");
export type CommitId = z.infer<typeof CommitId>;
export const WebhookId = idSchema("whk", "WebhookId");
export type WebhookId = z.infer<typeof WebhookId>;
export const TopicId = idSchema("top", "TopicId");
export type TopicId = z.infer<typeof TopicId>;
export const RunId = idSchema("run", "RunId");
export type RunId = z.infer<typeof RunId>;
export const ApprovalId = idSchema("apr", "ApprovalId");
export type ApprovalId = z.infer<typeof ApprovalId>;
