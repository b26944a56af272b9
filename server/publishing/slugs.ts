/**
 * The names of public pages: claimed in the directory before the link is written, so that no two links share one.
 *
 * A link keeps its name after it was unpublished, for as long as its article exists: the address then says that
 * the page was taken down, and publishing again brings back the same address. A name that is given up is never
 * released by hand, which could hit a link that has just taken it back: a claim whose link bears another name, or
 * is gone, is free by itself.
 */
import { AppError } from "../../api/schema/error.ts";
import { articleRecord } from "../articles/records.ts";
import type { IdSource } from "../ids.ts";
import type { Directory } from "../storage/directory.ts";
import type { Storage } from "../storage/port.ts";
import { publicLinkRecord } from "./records.ts";

const space = "slug";
const maxCharacters = 120;
const countedSuffixes = 9;
const suffixCharacters = "abcdefghjkmnpqrstvwxyz0123456789";
const suffixLength = 8;

export interface Slugs {
  /** The slug asked for, or `name_taken`. */
  claim(slug: string, articleId: string): Promise<void>;
  /** `wanted`, or the like of it when that is taken. */
  claimLike(wanted: string, articleId: string, ids: IdSource): Promise<string>;
  /** The article whose link had this slug when it was claimed; whether it still has it, the link knows. */
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
  /** Purged articles leave no claim behind. */
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
      for (;;) {
        const suffix = [...ids.bytes(suffixLength)].map((byte) => suffixCharacters.charAt(byte % suffixCharacters.length)).join("");
        const slug = withSuffix(wanted, suffix);
        if (await tryClaim(slug, articleId)) return slug;
      }
    },
    find: (slug) => directory.find(space, slug),
  };
}
