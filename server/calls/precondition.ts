/**
 * Entity tags and `If-Match`. A record's tag is `"r<record revision>"`, a text's `"r<revision>"`; an article's is
 * `"r<revision>-<record revision>"`, of which a condition compares the record part only, so that somebody
 * typing does not fail a rename. A condition that is given is always judged: what has no tag meets none.
 */
import { AppError } from "../../api/schema/error.ts";
import type { Call } from "./call.ts";

export function recordEtag(revision: number): string {
  return `"r${revision}"`;
}

export function articleEtag(revision: number, recordRevision: number): string {
  return `"r${revision}-${recordRevision}"`;
}

const listedTag = /^\s*((?:W\/)?"[\x21\x23-\x7e\x80-\u00ff]*")\s*(?:,|$)/;

/** The tags of an `If-Match` header, or `["*"]`. */
export function parseIfMatch(header: string): readonly string[] {
  if (header.trim() === "*") return ["*"];
  const tags: string[] = [];
  let rest = header;
  while (rest.trim() !== "") {
    const match = listedTag.exec(rest);
    if (match?.[1] === undefined) {
      throw new AppError("bad_request", 'The header If-Match must be * or a list of entity tags such as "r3".');
    }
    tags.push(match[1]);
    rest = rest.slice(match[0].length);
  }
  if (tags.length === 0) throw new AppError("bad_request", "The header If-Match must not be empty.");
  return tags;
}

const changed = "The resource was changed: its entity tag is not the one in If-Match. Read it again and retry.";

const ownTag = /^"r(?:\d+-)?(\d+)"$/;

/**
 * Refuses with 412 unless the caller demands nothing or one of its tags names `recordRevision`. Tags that this
 * service never gave, weak ones among them, match nothing.
 */
export function requireMatch(call: Pick<Call, "ifMatch">, recordRevision: number): void {
  const tags = call.ifMatch;
  if (tags === undefined) return;
  for (const tag of tags) {
    if (tag === "*" || Number(ownTag.exec(tag)?.[1]) === recordRevision) return;
  }
  throw new AppError("precondition_failed", changed);
}

/** The same for the text of an article at `revision`, which everybody's typing moves on. */
export function requireTextMatch(call: Pick<Call, "ifMatch">, revision: number): void {
  const tags = call.ifMatch;
  if (tags === undefined || tags.some((tag) => tag === "*" || tag === recordEtag(revision))) return;
  throw new AppError("precondition_failed", changed, { currentRevision: revision });
}

/** Refuses a condition on something that has no entity tag: none can be the one that the caller names. */
export function requireNoTag(header: string): void {
  if (parseIfMatch(header)[0] === "*") return;
  throw new AppError("precondition_failed", "There is no entity tag here that If-Match could name. Leave the header out.");
}
