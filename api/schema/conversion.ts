/**
 * Defines the schemas of conversions: the formats, the request, the conversion and its output. All schemas refuse unknown
 * fields.
 */
import { z } from "zod";
import { ArticleFile } from "./article.ts";
import { int, Line, text, unixSeconds } from "./common.ts";
import { ArticleId, exampleId, FolderId, idText, WorkspaceId } from "./id.ts";

export const conversionInputFormats = ["markdown", "html", "docx", "pdf", "txt", "json"] as const;
export const ConversionInputFormat = z.enum(conversionInputFormats).meta({
  id: "ConversionInputFormat",
  description: "Format to convert from. `json` is the syntax tree of Markdown (mdast); of `pdf` only the text is read.",
});
export type ConversionInputFormat = z.infer<typeof ConversionInputFormat>;

export const conversionOutputFormats = ["markdown", "html", "docx", "pdf", "txt", "json"] as const;
export const ConversionOutputFormat = z.enum(conversionOutputFormats).meta({
  id: "ConversionOutputFormat",
  description: "Format to convert to. `json` is the syntax tree of Markdown (mdast).",
});
export type ConversionOutputFormat = z.infer<typeof ConversionOutputFormat>;

export const conversionFidelity = z
  .strictObject({
    score: z.number().min(0).max(1).meta({ description: "1 if nothing was lost, 0 if everything was lost.", example: 0.98 }),
    losses: z
      .array(
        z.strictObject({
          construct: z.string().meta({ description: "Construct that the output cannot show, or shows differently.", example: "footnote" }),
          count: z.number().int().meta({ description: "How often the construct occurs.", example: 2 }),
          lines: z
            .array(z.number().int())
            .meta({ description: "Lines of the source in which it occurs, as far as they are known.", example: [12, 40] }),
        }),
      )
      .describe("Everything that was lost or changed."),
  })
  .meta({ id: "ConversionFidelity", description: "How much of the source the output keeps." });
export type ConversionFidelity = z.infer<typeof conversionFidelity>;

/** Media type of each format. */
export const conversionMediaTypes = {
  markdown: "text/markdown",
  html: "text/html",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  pdf: "application/pdf",
  txt: "text/plain",
  json: "application/json",
} as const satisfies Record<ConversionOutputFormat, string>;
export type ConversionMediaType = (typeof conversionMediaTypes)[ConversionOutputFormat];

export const ConversionStatus = z.enum(["queued", "running", "succeeded", "failed", "expired"]).meta({
  id: "ConversionStatus",
  description: "State of a conversion. `expired`: it succeeded, and its output is no longer kept.",
});
export type ConversionStatus = z.infer<typeof ConversionStatus>;

export const Conversion = z
  .strictObject({
    conversionId: idText("cnv", "Id of the conversion."),
    workspaceId: idText("ws", "Workspace of the target or of the source article. Absent without either.").optional(),
    status: ConversionStatus,
    from: ConversionInputFormat,
    to: ConversionOutputFormat,
    source: z
      .strictObject({
        articleId: idText("art", "Article that was converted.").optional(),
        file: ArticleFile.describe("File of the article.").optional(),
        revision: int("Revision of the article.", 42).optional(),
        fileName: text("Name of the uploaded file.", "Report.docx").optional(),
        url: text("Address of the source.", "https://docs.example.com/guide.html").optional(),
      })
      .describe("Where the source came from. Empty for content in the request."),
    createdAt: unixSeconds("When the conversion was requested."),
    finishedAt: unixSeconds("When the conversion succeeded or failed.").optional(),
    output: z
      .strictObject({
        url: text("Address of the bytes.", `http://127.0.0.1:8787/conversions/${exampleId("cnv")}/output`),
        contentType: text("Media type of the bytes.", "text/markdown"),
        bytes: int("Number of bytes.", 18_240),
        sha256: text("SHA-256 (hex) of the bytes.", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        expiresAt: unixSeconds("When the output is deleted."),
      })
      .describe("Result of a conversion that succeeded. Absent after its expiry.")
      .optional(),
    fidelity: conversionFidelity.optional(),
    error: z
      .strictObject({
        code: text("Reason as a code: `conversion_failed`, or a code of the API.", "conversion_failed"),
        message: text("Reason as text.", "The document is not a DOCX file: it is not a ZIP archive."),
      })
      .describe("Reason why the conversion failed.")
      .optional(),
  })
  .meta({ id: "Conversion", description: "A conversion of one document, and its result." });
export type Conversion = z.infer<typeof Conversion>;

const Title = Line(500).meta({ description: "Title of the document.", example: "How a draft survives" });

const articleSource = z.strictObject({
  articleId: ArticleId.describe("Article to convert."),
  file: ArticleFile.describe("File to convert; `content.md` by default.").optional(),
  revision: z.int().min(0).meta({ description: "Revision to convert; the newest by default.", example: 42 }).optional(),
});
const contentSource = z.strictObject({
  content: z.string().meta({ description: "The document: text, or base64 for `docx` and `pdf`.", example: "# How a draft survives\n" }),
  format: ConversionInputFormat,
});
const urlSource = z.strictObject({
  url: z
    .string()
    .meta({ description: "Public https address of the document. Redirects are not followed.", example: "https://docs.example.com/a.html" }),
  format: ConversionInputFormat.describe(
    "Format of the document. By default the address says it by its extension, else `html`.",
  ).optional(),
});

export const ConversionSource = z
  .union([contentSource, articleSource, urlSource], "must have articleId, or content and format, or url")
  .meta({ id: "ConversionSource", description: "The document to convert: an article, content in the request, or a public address." });
export type ConversionSource = z.infer<typeof ConversionSource>;

export const ConversionOptions = z
  .strictObject({
    title: Title.describe("Title for formats that have a place for one: HTML, DOCX and PDF. By default that of the article.").optional(),
  })
  .meta({ id: "ConversionOptions", description: "Options of a conversion." });
export type ConversionOptions = z.infer<typeof ConversionOptions>;

const newArticleTitle = Title.describe("Title of the new article. By default that of the options, else the name of the source.").optional();

export const ConversionTarget = z
  .union(
    [
      z.strictObject({ workspaceId: WorkspaceId.describe("Workspace for a new article in no folder."), title: newArticleTitle }),
      z.strictObject({ folderId: FolderId.describe("Folder for a new article."), title: newArticleTitle }),
      z.strictObject({ articleId: ArticleId.describe("Article whose `content.md` is replaced.") }),
    ],
    "must have one of articleId, folderId and workspaceId",
  )
  .meta({ id: "ConversionTarget", description: "The article that receives the Markdown: a new one or an existing one." });
export type ConversionTarget = z.infer<typeof ConversionTarget>;

export const CreateConversionRequest = z
  .strictObject({
    source: ConversionSource,
    to: ConversionOutputFormat,
    options: ConversionOptions.optional(),
    target: ConversionTarget.optional(),
  })
  .meta({ id: "CreateConversionRequest", description: "A document, and the format to convert it to." });
export type CreateConversionRequest = z.infer<typeof CreateConversionRequest>;

/** The fields beside the file of a multipart body. Fields that are objects are sent as JSON. */
export const ConversionForm = z.strictObject({
  to: ConversionOutputFormat,
  format: ConversionInputFormat.describe(
    "Format of the file. By default its name says it by its extension, else its media type.",
  ).optional(),
  options: ConversionOptions.optional(),
  target: ConversionTarget.optional(),
});
export type ConversionForm = z.infer<typeof ConversionForm>;

export const ConversionFormats = z
  .strictObject({
    pairs: z
      .array(
        z.strictObject({
          from: ConversionInputFormat,
          to: ConversionOutputFormat,
          lossless: z.boolean().meta({ description: "True if every document keeps everything.", example: false }),
        }),
      )
      .describe("All supported pairs of formats."),
  })
  .meta({ id: "ConversionFormats", description: "The supported pairs of formats." });
export type ConversionFormats = z.infer<typeof ConversionFormats>;
export type ConversionPair = ConversionFormats["pairs"][number];

export const ConversionOutput = z
  .strictObject({
    fileName: text("Suggested name of a file.", "How a draft survives.md"),
    contentType: text("Media type of the content.", "text/markdown"),
    bytes: int("Number of bytes.", 18_240),
    sha256: text("SHA-256 (hex) of the bytes.", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    encoding: z.enum(["utf-8", "base64"]).describe("Form of `content`: `base64` for DOCX and PDF."),
    content: text("The output.", "# How a draft survives\n"),
  })
  .meta({ id: "ConversionOutput", description: "The output of a conversion as JSON." });
export type ConversionOutput = z.infer<typeof ConversionOutput>;
