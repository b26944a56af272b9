/** Handles in the text of a review: which one is being typed, and where they stand (docs/reviews.md, mentions). */

export interface TypedHandle {
  /** Position of the `@`. */
  readonly start: number;
  /** What was typed after it, in lower case. */
  readonly query: string;
}

/** The handle that ends at the caret. An `@` inside of a word, such as an e-mail address, begins none. */
export function handleAt(text: string, caret: number): TypedHandle | undefined {
  const match = /(?:^|[^\p{L}\p{N}_])@([a-z0-9._-]*)$/iu.exec(text.slice(0, caret));
  const query = match?.[1];
  return query === undefined ? undefined : { start: caret - query.length - 1, query: query.toLowerCase() };
}

/** At most `most` names: those that begin with the query, then those that contain it. */
export function matchNames(names: readonly string[], query: string, most: number): readonly string[] {
  const first = names.filter((name) => name.startsWith(query));
  const others = names.filter((name) => !name.startsWith(query) && name.includes(query));
  return [...first, ...others].slice(0, most);
}

export interface TextPart {
  /** Position in the text. */
  readonly at: number;
  readonly text: string;
  readonly isMention: boolean;
}

/** Splits a text at the handles of the given accounts. */
export function splitMentions(text: string, usernames: readonly string[]): readonly TextPart[] {
  const known = new Set(usernames);
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(/@([a-z0-9._-]*[a-z0-9])/gi)) {
    if (!known.has((match[1] ?? "").toLowerCase())) continue;
    if (match.index > end) parts.push({ at: end, text: text.slice(end, match.index), isMention: false });
    parts.push({ at: match.index, text: match[0], isMention: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ at: end, text: text.slice(end), isMention: false });
  return parts;
}
