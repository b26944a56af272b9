/** The texts that this browser keeps for work without a connection: one IndexedDB database for each article and account. */
import { IndexeddbPersistence } from "y-indexeddb";
import type * as Y from "yjs";

const prefixOf = (username: string) => `article ${username} `;

/** Fills the document with what this browser kept, and keeps what changes. */
export function keepOffline(username: string, articleId: string, doc: Y.Doc): IndexeddbPersistence {
  return new IndexeddbPersistence(`${prefixOf(username)}${articleId}`, doc);
}

/** Deletes the kept texts of an account, at the end of its session: the next person at this browser must not read them. */
export async function forgetOffline(username: string): Promise<void> {
  const databases = await indexedDB.databases();
  for (const { name } of databases) if (name?.startsWith(prefixOf(username)) === true) indexedDB.deleteDatabase(name);
}
