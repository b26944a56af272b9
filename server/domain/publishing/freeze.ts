/** Freeze stores the Markdown of an article as a blob in the article's partition, so that a public link can refer to it. */
import type { FrozenContent } from "../../../machines/publicLink.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { Documents } from "../articles/port.ts";

/** The file that a public page shows. */
export const publicFile = "content.md";

/** A text of the public file that is not frozen yet. */
export interface PublishableText {
  readonly revision: number;
  readonly markdown: string;
}

export interface Freeze {
  /** The live text, or the text at a revision; undefined when the revision is neither kept nor committed. */
  read(articleId: string, revision?: number): Promise<PublishableText | undefined>;
  store(articleId: string, title: string, text: PublishableText): Promise<FrozenContent>;
  newest(articleId: string, title: string): Promise<FrozenContent>;
  /** The Markdown of frozen content; undefined when the content was replaced meanwhile. */
  markdown(articleId: string, content: FrozenContent): Promise<string | undefined>;
}

export interface FreezeOptions {
  readonly documents: Pick<Documents, "read" | "readAt">;
  readonly storage: Pick<Storage, "blobs">;
}

export function createFreeze({ documents, storage }: FreezeOptions): Freeze {
  async function readNewest(articleId: string): Promise<PublishableText> {
    const { revision, texts } = await documents.read(articleId);
    return { revision, markdown: texts[publicFile] };
  }

  async function store(articleId: string, title: string, { revision, markdown }: PublishableText): Promise<FrozenContent> {
    const bytes = Buffer.from(markdown);
    const contentHash = await storage.blobs.put(partitionOfId(articleId), bytes);
    return { revision, contentHash, bytes: bytes.byteLength, title };
  }

  return {
    async read(articleId, revision) {
      if (revision === undefined) return readNewest(articleId);
      const texts = await documents.readAt(articleId, revision);
      return texts === undefined ? undefined : { revision, markdown: texts[publicFile] };
    },
    store,
    newest: async (articleId, title) => store(articleId, title, await readNewest(articleId)),
    async markdown(articleId, { contentHash }) {
      const bytes = await storage.blobs.get(partitionOfId(articleId), contentHash);
      return bytes === undefined ? undefined : Buffer.from(bytes).toString();
    },
  };
}
