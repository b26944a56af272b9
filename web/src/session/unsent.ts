/** Which articles have changes that only this browser has: they are lost when its copies are deleted. */
const nameOf = (username: string) => `unsent ${username}`;

function read(username: string): readonly string[] {
  return (localStorage.getItem(nameOf(username)) ?? "").split(" ").filter((articleId) => articleId !== "");
}

/** Call it whenever an article begins to have unsent changes, or has none any more. */
export function markUnsent(username: string, articleId: string, isUnsent: boolean): void {
  const others = read(username).filter((other) => other !== articleId);
  const all = isUnsent ? [...others, articleId] : others;
  if (all.length === 0) localStorage.removeItem(nameOf(username));
  else localStorage.setItem(nameOf(username), all.join(" "));
}

export function countUnsent(username: string): number {
  return read(username).length;
}

export function forgetUnsent(username: string): void {
  localStorage.removeItem(nameOf(username));
}
