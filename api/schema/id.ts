/** Defines the identifiers of the API: a prefix and a ULID whose characters 11 and 12 are the partition number. */
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

/** The alphabet of ids: Crockford's base 32. */
export const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Matches `<prefix>_`, 10 characters of time, 2 of partition (`00` … `1Z`) and 14 random characters. */
export function idPattern(prefix: IdPrefix): RegExp {
  return new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{9}[01][0-9A-HJKMNP-TV-Z]{15}$`);
}

/** Returns an example id with this prefix, for the OpenAPI document. */
export function exampleId(prefix: IdPrefix): string {
  return `${prefix}_01KAHX0000050123456789ABCD`;
}

/** An id in an answer. It is plain text with an example id. */
export function idText(prefix: IdPrefix, description: string) {
  return z.string().meta({ description, example: exampleId(prefix) });
}

function idSchema<const Prefix extends IdPrefix, const Name extends string>(prefix: Prefix, _brand: Name, what: string) {
  return z
    .string()
    .regex(idPattern(prefix), `must be an id of the form ${prefix}_ followed by 26 characters`)
    .meta({ description: `Id of ${what}: \`${prefix}_\` and 26 characters.`, example: exampleId(prefix) })
    .brand<Name>();
}

export const KeyId = idSchema("key", "KeyId", "an API key");
export type KeyId = z.infer<typeof KeyId>;
export const WorkspaceId = idSchema("ws", "WorkspaceId", "a workspace");
export type WorkspaceId = z.infer<typeof WorkspaceId>;
export const ArticleId = idSchema("art", "ArticleId", "an article");
export type ArticleId = z.infer<typeof ArticleId>;
export const FolderId = idSchema("fld", "FolderId", "a folder");
export type FolderId = z.infer<typeof FolderId>;
export const TemplateId = idSchema("tpl", "TemplateId", "a template");
export type TemplateId = z.infer<typeof TemplateId>;
export const CommitId = idSchema("cmt", "CommitId", "a commit");
export type CommitId = z.infer<typeof CommitId>;
export const ReviewId = idSchema("rev", "ReviewId", "a review");
export type ReviewId = z.infer<typeof ReviewId>;
export const ReplyId = idSchema("rpl", "ReplyId", "a reply in a review");
export type ReplyId = z.infer<typeof ReplyId>;
export const WebhookId = idSchema("whk", "WebhookId", "a webhook");
export type WebhookId = z.infer<typeof WebhookId>;
export const TopicId = idSchema("top", "TopicId", "a topic");
export type TopicId = z.infer<typeof TopicId>;
export const RunId = idSchema("run", "RunId", "a run");
export type RunId = z.infer<typeof RunId>;
export const ApprovalId = idSchema("apr", "ApprovalId", "an approval");
export type ApprovalId = z.infer<typeof ApprovalId>;
export const JobId = idSchema("job", "JobId", "a job");
export type JobId = z.infer<typeof JobId>;
export const ConversionId = idSchema("cnv", "ConversionId", "a conversion");
export type ConversionId = z.infer<typeof ConversionId>;
