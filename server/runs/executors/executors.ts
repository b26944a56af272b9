/** Every step type that can be done here, and who does it. What is not listed is skipped by the engine, with its reason. */
import { createArticleReader } from "./articleReader.ts";
import { createArticleValidation } from "./articleValidation.ts";
import { createCodeVerification } from "./codeVerification.ts";
import type { Model } from "./model.ts";
import type { Executors } from "./port.ts";
import { createReview } from "./review.ts";
import { createSeoReview } from "./seoReview.ts";
import { createWriting } from "./writing.ts";

export interface ExecutorService {
  readonly executors: Executors;
  close(): Promise<void>;
}

/** Without a model the built-in composer writes. */
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
    close: () => reader.close(),
  };
}
