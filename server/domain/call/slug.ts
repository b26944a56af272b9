/** This module creates the readable part of an article address from the title. */

const maxCharacters = 120;

/** Returns lower-case ASCII letters, digits and hyphens, or `fallback` when the title contains no such letter or digit. */
export function toSlug(title: string, fallback: string): string {
  const slug = title
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, maxCharacters + 1)
    .replace(/^-+/, "")
    .slice(0, maxCharacters)
    .replace(/-+$/, "");
  return slug === "" ? fallback : slug;
}
