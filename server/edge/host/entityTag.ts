/** EntityTag compares the entity tag of an answer with those that a client has. */

/** Evaluates `If-None-Match` with the weak comparison that RFC 9110 requires. `etag` is the whole tag, with its quotes. */
export function hasTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === "*" || ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
