/** Freezes the text of an article: its Markdown as a blob in the article's partition, for a link to name. */
import type { FrozenContent } from "../../machines/publicLink.ts";
import type { Documents } from "../articles/port.ts";
import { partitionOfId } from "../ids.ts";
import type { Storage } from "../storage/port.ts";

/** The file a public page shows. */
const publicFile = "content.md";

export interface Freeze {
  newest(articleId: string, title: string): Promise<FrozenContent>;
  /** `undefined` for a revision that is neither kept nor committed. */
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
