/** Freeze stores the Markdown of an article as a blob in the article's partition, so that a public link can refer to it. */
import type { FrozenContent } from "../../../machines/publicLink.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { Documents } from "../articles/port.ts";

/** The file that a public page shows. */
const publicFile = "content.md";

export interface Freeze {
  newest(articleId: string, title: string): Promise<FrozenContent>;
  /** Undefined when the revision is neither kept nor committed. */
  at(articleId: string, revision: number, title: string): Promise<FrozenContent | undefined>;
}

export interface FreezeOptions {
  readonly documents: Documents;
  readonly storage: Pick<Storage, "blobs">;
}

export function createFreeze({ documents, storage }: FreezeOptions): Freeze {
  async function freeze(articleId: string, revision: number, title: string, markdown: string): Promise<FrozenContent> {
    const bytes = Buffer.from(markdown);
    const contentHash = await storage.blobs.put(partitionOfId(articleId), bytes);
    return { revision, contentHash, bytes: bytes.byteLength, title };
  }

  return {
    async newest(articleId, title) {
      const { revision, texts } = await documents.read(articleId);
      return freeze(articleId, revision, title, texts[publicFile]);
    },
    async at(articleId, revision, title) {
      const texts = await documents.readAt(articleId, revision);
      return texts === undefined ? undefined : freeze(articleId, revision, title, texts[publicFile]);
    },
  };
}
