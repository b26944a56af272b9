/**
 * This module creates entity tags and checks `If-Match` preconditions.
 *
 * The tag of a record is `"r<record revision>"`, the tag of a text is `"r<revision>"`. A form that is made of a text (HTML, plain
 * text) has the tag `"r<revision>-<form>"`, which names the same text in `If-Match`. Some answers also show values
 * that other users change all the time (the text of an article, the counters of a workspace). Their tag is
 * `"r<live revision>-<record revision>"`, and `If-Match` compares only the record part. Otherwise typing would fail a
 * rename, and a new article would fail a change of settings. The live part of an article with a commit is
 * `<revision>.<revision of the last commit>`, because a commit changes the article without a new revision. A precondition on
 * a resource without a tag always fails, unless it is `*`.
 */
import { AppError } from "../../../api/schema/error.ts";
import type { Call } from "./call.ts";

export function recordEtag(revision: number): string {
  return `"r${revision}"`;
}

/** `form` begins with a lower-case letter, so that no tag of a record looks like it. */
export function renderedEtag(revision: number, form: string): string {
  return `"r${revision}-${form}"`;
}

export function liveEtag(liveRevision: number, recordRevision: number): string {
  return `"r${liveRevision}-${recordRevision}"`;
}

/** `commitRevision` is the revision of the last commit; undefined before the first one. */
export function articleEtag(revision: number, commitRevision: number | undefined, recordRevision: number): string {
  return commitRevision === undefined ? liveEtag(revision, recordRevision) : `"r${revision}.${commitRevision}-${recordRevision}"`;
}

const listedTag = /^\s*((?:W\/)?"[\x21\x23-\x7e\x80-\u00ff]*")\s*(?:,|$)/;

/** Returns the tags of an `If-Match` header, or `["*"]`. Throws `bad_request` for an invalid header. */
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

const changed = "The resource has changed: its entity tag is not the one in If-Match. Read the resource again and retry.";

/** Form of a resource's tags: `record` has one part, `live` has two. A review and its replies share one revision and accept `either`. */
export type TagForm = "record" | "live" | "either";

/** The group is the record revision. */
const tagForms: Readonly<Record<TagForm, RegExp>> = {
  record: /^"r(\d+)"$/,
  live: /^"r\d+(?:\.\d+)?-(\d+)"$/,
  either: /^"r(?:\d+-)?(\d+)"$/,
};

/**
 * Throws 412 `precondition_failed` unless the request has no `If-Match` or one of its tags names `recordRevision`. Weak tags
 * and tags of another form never match. The tag of a text looks like that of a record, so an article accepts only tags with
 * two parts.
 */
export function requireMatch(call: Pick<Call, "ifMatch">, recordRevision: number, form: TagForm = "record"): void {
  const tags = call.ifMatch;
  if (tags === undefined) return;
  for (const tag of tags) {
    if (tag === "*" || Number(tagForms[form].exec(tag)?.[1]) === recordRevision) return;
  }
  throw new AppError("precondition_failed", changed);
}

const textTag = /^"r(\d+)(?:-[a-z][\w-]*)?"$/;

/** Checks `If-Match` against the text of an article at `revision`, which changes whenever any author types. Throws 412. */
export function requireTextMatch(call: Pick<Call, "ifMatch">, revision: number): void {
  const tags = call.ifMatch;
  if (tags === undefined || tags.some((tag) => tag === "*" || Number(textTag.exec(tag)?.[1]) === revision)) return;
  throw new AppError("precondition_failed", changed, { currentRevision: revision });
}

/** Throws 412 for a precondition on a resource that has no entity tag, because no tag can match. `*` is accepted. */
export function requireNoTag(header: string): void {
  if (parseIfMatch(header)[0] === "*") return;
  throw new AppError("precondition_failed", "This resource has no entity tag, so If-Match cannot match. Leave the header out.");
}
