/**
 * user sets the `user` field of a presence state: the name and color that editors show for a member.
 *
 * The server's fields come from the credential, so no client can appear as another member. Further fields that the client
 * puts under `user` are kept (RT45).
 */
import type { Author } from "../../api/schema/article.ts";
import type { ConnectionIdentity } from "../ports.ts";

/** Colors that are readable on light and dark backgrounds. A member has the same color in every document. */
const colors = ["#c2410c", "#a16207", "#4d7c0f", "#047857", "#0e7490", "#1d4ed8", "#6d28d9", "#a21caf", "#be123c", "#57534e"];

function toUser({ author, displayName }: ConnectionIdentity) {
  let hash = 0;
  for (const character of `${author.kind}/${author.username}`) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  const color = colors[hash % colors.length] as string;
  return { name: displayName ?? author.username, username: author.username, kind: author.kind, color, colorLight: `${color}33` };
}

export function isSameAuthor(one: Author, other: Author): boolean {
  return one.username === other.username && one.kind === other.kind;
}

/** Returns the state as JSON. In its `user` the server's fields replace fields of the same name from the client. */
export function stamp(identity: ConnectionIdentity, state: { readonly user?: unknown }): string {
  const own = typeof state.user === "object" && !Array.isArray(state.user) ? state.user : {};
  return JSON.stringify({ ...state, user: { ...own, ...toUser(identity) } });
}

/** True when the server has already stamped this state for the same author. */
export function isStampedFor({ author }: ConnectionIdentity, state: { readonly user?: unknown }): boolean {
  const { user } = state;
  if (typeof user !== "object" || user === null) return false;
  const { username, kind } = user as { readonly username?: unknown; readonly kind?: unknown };
  return username === author.username && kind === author.kind;
}
