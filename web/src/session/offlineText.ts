/** The texts that this browser keeps for work without a connection: one IndexedDB database for each article and account. */

const prefixOf = (username: string) => `article ${username} `;

/** Name of the database that y-indexeddb keeps an article in. */
export function offlineName(username: string, articleId: string): string {
  return `${prefixOf(username)}${articleId}`;
}

/** Deletes the kept texts of an account, at the end of its session: the next person at this browser must not read them. */
export async function forgetOffline(username: string): Promise<void> {
  const databases = await indexedDB.databases();
  for (const { name } of databases) if (name?.startsWith(prefixOf(username)) === true) indexedDB.deleteDatabase(name);
}
