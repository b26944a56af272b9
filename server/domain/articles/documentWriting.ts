/** DocumentWriting lets a server-side writer change a live document, with the same rules and the same merge as an edit request. */
import type { Limits } from "../../../api/limits.ts";
import { requireFits, toAcceptable } from "../call/acceptedText.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import { carryOperations } from "./merge.ts";
import type { DocumentWriting } from "./port.ts";
import { applyToText } from "./textUpdate.ts";

export interface DocumentWritingOptions {
  readonly texts: Pick<ArticleTexts, "planEdit">;
  readonly limits: Pick<Limits, "article.file">;
}

export function createDocumentWriting({ texts, limits }: DocumentWritingOptions): DocumentWriting {
  const maxFileBytes = limits["article.file"];
  return {
    toAcceptable,
    requireFits: (text) => requireFits(text, maxFileBytes),
    async carry(owner, { base, content, live }) {
      const { operations } = await texts.planEdit(owner, { request: { mode: "replace", content }, base, live, maxFileBytes });
      if (operations.length === 0) return undefined;
      return (text) => {
        const current = text.toString();
        applyToText(text, current === live ? operations : carryOperations(operations, live, current));
      };
    },
  };
}
