/** How a member looks to the others, in the fields editors expect under `user` of a presence state. */
import type { ConnectionIdentity } from "./ports.ts";

/** Distinct on light and dark ground; a member has the same one everywhere. */
const colors = ["#c2410c", "#a16207", "#4d7c0f", "#047857", "#0e7490", "#1d4ed8", "#6d28d9", "#a21caf", "#be123c", "#57534e"];

export function toUser({ author, displayName }: ConnectionIdentity) {
  let hash = 0;
  for (const character of `${author.kind}/${author.username}`) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  const color = colors[hash % colors.length] as string;
  return { name: displayName ?? author.username, username: author.username, kind: author.kind, color, colorLight: `${color}33` };
}
