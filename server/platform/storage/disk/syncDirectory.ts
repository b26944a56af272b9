/** Makes the file names in a directory durable. Syncing a file does not make its name durable. */
import { open } from "node:fs/promises";

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
