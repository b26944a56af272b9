/** The readable part of an article's addresses, made from its title. */

const maxCharacters = 120;

/** Lower-case ASCII letters, digits and hyphens; `fallback` for a title that has none. */
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
