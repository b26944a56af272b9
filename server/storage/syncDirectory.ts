/** Makes the names in a directory durable: syncing a file does not keep its name. */
import { open } from "node:fs/promises";

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
