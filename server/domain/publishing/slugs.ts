/**
 * Slugs claims the slugs of public pages in the directory before the link is written, so that no two links share a slug.
 *
 * An unpublished link keeps its slug while its article exists: the URL then says that the page was taken down, and
 * publishing again restores the same URL. A slug that is no longer used is never released explicitly, because the release
 * could hit a link that has just claimed the slug again. Instead, a claim is free when its link has another slug or no
 * longer exists. Until another link takes the slug, its claim leads readers of the earlier address to the link.
 */
import { AppError } from "../../../api/schema/error.ts";
import type { Directory } from "../../platform/storage/directory.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
import { articleRecord } from "../articles/records.ts";
import { publicLinkRecord } from "./records.ts";

const space = "slug";
const maxCharacters = 120;
const countedSuffixes = 9;
const suffixCharacters = "abcdefghjkmnpqrstvwxyz0123456789";
const suffixLength = 8;

export interface Slugs {
  /** Claims exactly this slug. Throws `name_taken` when another link has it. */
  claim(slug: string, articleId: string): Promise<void>;
  /** Claims `wanted`, or `wanted` with a numeric or random suffix when it is taken. Returns the claimed slug. */
  claimLike(wanted: string, articleId: string, ids: IdSource): Promise<string>;
  /** The id of the article that claimed the slug last. Its link may have another slug by now. */
  find(slug: string): Promise<string | undefined>;
}

function withSuffix(slug: string, suffix: string): string {
  const room = maxCharacters - suffix.length - 1;
  return `${slug.slice(0, room).replace(/-+$/, "")}-${suffix}`;
}

export function createSlugs({
  storage,
  directory,
}: {
  storage: Pick<Storage, "records">;
  directory: Pick<Directory, "claim" | "find">;
}): Slugs {
  /** Whether the article's link still has the slug. False for an article that was deleted for good. */
  async function isHeldBy(slug: string, articleId: string): Promise<boolean> {
    const [link, article] = await Promise.all([
      storage.records.get(publicLinkRecord, articleId),
      storage.records.get(articleRecord, articleId),
    ]);
    return article !== undefined && link?.value.context.slug === slug;
  }

  async function tryClaim(slug: string, articleId: string): Promise<boolean> {
    return (await directory.claim(space, slug, articleId, (target) => isHeldBy(slug, target))) === "claimed";
  }

  return {
    async claim(slug, articleId) {
      if (await tryClaim(slug, articleId)) return;
      throw new AppError("name_taken", `The slug ${slug} belongs to another public page; choose another one.`, {
        errors: [{ pointer: "/slug", code: "name_taken", message: "belongs to another public page" }],
      });
    },
    async claimLike(wanted, articleId, ids) {
      if (await tryClaim(wanted, articleId)) return wanted;
      for (let number = 2; number <= countedSuffixes; number += 1) {
        const slug = withSuffix(wanted, String(number));
        if (await tryClaim(slug, articleId)) return slug;
      }
      return retryOnConflict("slug.claim", async () => {
        const suffix = [...ids.bytes(suffixLength)].map((byte) => suffixCharacters.charAt(byte % suffixCharacters.length)).join("");
        const slug = withSuffix(wanted, suffix);
        return (await tryClaim(slug, articleId)) ? slug : conflict;
      });
    },
    find: (slug) => directory.find(space, slug),
  };
}
