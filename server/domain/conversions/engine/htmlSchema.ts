/**
 * HtmlSchema is the allow list of elements and attributes for HTML that is read and HTML that is written.
 *
 * It is GitHub's list. Pictures may also be `data:` URLs, because a converted document must be complete without a network.
 */
import { defaultSchema, type Options as Schema } from "rehype-sanitize";
import { activeElements } from "../../call/activeElements.ts";

export const htmlSchema: Schema = {
  ...defaultSchema,
  strip: [...activeElements],
  protocols: { ...defaultSchema.protocols, src: ["http", "https", "data"] },
  // Ids keep their names, because references of footnotes must find them in the document.
  clobber: [],
  clobberPrefix: "",
};
