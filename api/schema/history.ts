/** Defines the schemas of an article's history: the authors of a committed text, and the return to an earlier text. */
import { z } from "zod";
import { ArticleFile, AuthorKind } from "./article.ts";
import { int, username } from "./common.ts";
import { idText } from "./id.ts";

/** Offsets are in UTF-16 code units, like the indexes of a JavaScript string. `end` is exclusive. */
export const BlameSpan = z
  .strictObject({
    start: int("Offset of the first character, in UTF-16 code units.", 0),
    end: int("Offset after the last character.", 24),
    username: username("Username of the author, or of the account on whose behalf the text was written."),
    kind: AuthorKind,
    commitId: idText("cmt", "First commit that contains the text."),
  })
  .meta({ id: "BlameSpan", description: "A part of a text that one author wrote between two commits." });
export type BlameSpan = z.infer<typeof BlameSpan>;

export const RestoreRequest = z
  .strictObject({
    revision: z.int().min(0).meta({
      description: "Revision to return to. The revision must be committed, or at most 24 hours old. 0 is the empty document.",
      example: 30,
    }),
    file: ArticleFile.describe("File to restore. By default all files are restored, or `content.md` if `section` is given.").optional(),
    section: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .meta({
        description:
          "Restore only the section with this heading, given as text without markup. A section reaches to the next heading of the same or a higher level.",
        example: "How it survives",
      })
      .optional(),
  })
  .meta({ id: "RestoreRequest", description: "The text to return to." });
