/** Defines the context, the input and the events of the conversion machine. */
import type { ArticleFile, Author } from "../api/schema/article.ts";
import type { ConversionFidelity, ConversionInputFormat, ConversionOutputFormat } from "../api/schema/conversion.ts";

/** Bytes in the blob store. */
export interface StoredBytes {
  /** SHA-256 (hex) of the bytes, under which the store keeps them. */
  readonly sha256: string;
  readonly bytes: number;
}

export interface ConversionSourceContext {
  readonly articleId?: string;
  readonly file?: ArticleFile;
  readonly revision?: number;
  readonly fileName?: string;
  readonly url?: string;
}

/** The article that receives the Markdown. Its ids are chosen with the request, so that a repeat of the work makes the same ones. */
export interface ConversionTargetContext {
  readonly articleId: string;
  readonly commitId: string;
  /** Yjs client id of the written text. */
  readonly clientId: number;
  /** Revision of an existing article at the time of the request. Text that others write after it is kept. */
  readonly baseRevision?: number;
  /** Present if the conversion creates the article. */
  readonly created?: CreatedArticleContext;
}

export interface CreatedArticleContext {
  readonly title: string;
  /** True if the title is only the name of the file or address. The first heading of the text then replaces it. */
  readonly isTitleGuessed?: true;
  readonly folderId?: string;
}

export interface ConversionInput {
  readonly nowMs: number;
  /** Account that the conversion belongs to. */
  readonly accountId: string;
  readonly author: Author;
  /** Present if the request came with an API key. */
  readonly keyId?: string;
  /** Workspace of the target, else of the source article. */
  readonly workspaceId?: string;
  /** Workspace of the source article if the target is in another one. */
  readonly sourceWorkspaceId?: string;
  readonly from: ConversionInputFormat;
  readonly to: ConversionOutputFormat;
  readonly source: ConversionSourceContext;
  /** The stored input. Absent for an address, which is read when the work begins. */
  readonly input?: StoredBytes;
  /** True if the request named the format; otherwise an answer of another media type is refused. */
  readonly isFormatGiven?: true;
  /** Title of the document. */
  readonly title?: string;
  /** Name of the output's file, without its extension. */
  readonly baseName: string;
  readonly target?: ConversionTargetContext;
  readonly traceparent?: string;
}

export interface ConversionStart {
  /** Id of the process that works. Each process has its own. */
  readonly process: string;
  /** Number of the attempt. An attempt that its process has returned does not count. */
  readonly attempt: number;
}

export interface ConversionContext extends Omit<ConversionInput, "nowMs" | "input"> {
  readonly input?: StoredBytes | undefined;
  readonly createdAtMs: number;
  /** The last start of the work. */
  readonly start?: ConversionStart;
  /** Processes that ended, or lost their lease, during the work. Absent if there was none. */
  readonly interruptions?: number;
  readonly finishedAtMs?: number;
  /** Time after which the record may be deleted. Set when the conversion ends. */
  readonly expiresAtMs?: number;
  readonly output?: (StoredBytes & { readonly contentType: string; readonly expiresAtMs: number }) | undefined;
  readonly fidelity?: ConversionFidelity;
  /** Names equal work on equal bytes. Present while the output is kept. */
  readonly cacheKey?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string };
}

export type ConversionEvent =
  | ({ readonly type: "convert.started"; readonly nowMs: number } & ConversionStart)
  | {
      readonly type: "convert.succeeded";
      readonly output: StoredBytes & { readonly contentType: string };
      readonly fidelity: ConversionFidelity;
      readonly cacheKey: string;
      readonly nowMs: number;
    }
  | { readonly type: "convert.failed"; readonly error: { readonly code: string; readonly message: string }; readonly nowMs: number }
  | { readonly type: "convert.exhausted"; readonly reason: string; readonly attempts: number; readonly nowMs: number }
  | { readonly type: "output.expired"; readonly nowMs: number }
  | { readonly type: "conversion.delete"; readonly nowMs: number };
