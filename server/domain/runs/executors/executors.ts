/**
 * Creates the executor of each step type that this server can perform.
 *
 * docs/runs.md describes what happens to steps of the other types.
 */
import { createArticleReader, type Read } from "./articleReader.ts";
import type { ValidationReport } from "./articleRules.ts";
import { createArticleValidation } from "./articleValidation.ts";
import { createCodeVerification } from "./codeVerification.ts";
import type { Model } from "./model.ts";
import type { Executors } from "./port.ts";
import { createReview } from "./review.ts";
import { createSeoReview } from "./seoReview.ts";
import { createWriting } from "./writing.ts";

export interface ExecutorService {
  readonly executors: Executors;
  /** Makes the checks of the step article_validation that need no topic. `owner` is a workspace id. */
  checkText(markdown: string, owner: string): Promise<Read<ValidationReport>>;
  close(): Promise<void>;
}

/** Creates the executors. If no model is configured, the built-in composer writes the texts. */
export function createExecutors({ model }: { readonly model?: Model | undefined }): ExecutorService {
  const reader = createArticleReader();
  return {
    executors: {
      research: createWriting("research", reader, model),
      thesis: createWriting("thesis", reader, model),
      outline: createWriting("outline", reader, model),
      draft: createWriting("draft", reader, model),
      review: createReview(reader, model),
      seo_review: createSeoReview(reader),
      article_validation: createArticleValidation(reader),
      code_verification: createCodeVerification(reader),
    },
    checkText: (markdown, owner) => reader.validateMarkdown({ markdown, expected: {} }, owner),
    close: () => reader.close(),
  };
}
