/**
 * RenderTasks write the text of an article as an HTML document or as plain text, with the writers of conversions. They run in
 * a worker thread (render.worker.ts), because hostile Markdown can take long.
 *
 * Raw HTML of the text is sanitised by the writer, so the document is safe to show.
 */
import { AppError } from "../../../api/schema/error.ts";
import { parseMarkdownWithFormulas } from "../call/parseFormulas.ts";
import type { ConversionCaps } from "./engine/caps.ts";
import { ConversionFailure } from "./engine/failure.ts";
import { replaceRawHtml } from "./engine/read/rawHtml.ts";
import { findTitle } from "./engine/read/title.ts";
import { requireBoundedTree } from "./engine/treeBounds.ts";
import { writeHtml } from "./engine/write/html.ts";
import { writeTxt } from "./engine/write/txt.ts";

export type RenderedFormat = "html" | "text";

interface RenderTask {
  readonly markdown: string;
  readonly format: RenderedFormat;
  readonly bounds: Pick<ConversionCaps, "nodes" | "depth" | "outputBytes">;
}

async function write({ markdown, format, bounds }: RenderTask): Promise<Uint8Array> {
  const tree = await parseMarkdownWithFormulas(markdown);
  requireBoundedTree(tree, bounds);
  const { bytes } =
    format === "html" ? await writeHtml(tree, await findTitle(tree, bounds)) : await writeTxt((await replaceRawHtml(tree, bounds)).tree);
  if (bytes.byteLength > bounds.outputBytes) throw new ConversionFailure(`The output is larger than ${bounds.outputBytes} bytes.`);
  return bytes;
}

/** Throws `content_too_large` for a text with too many elements, nested too deeply, or with too large an output. */
async function render(task: RenderTask): Promise<Uint8Array> {
  try {
    return await write(task);
  } catch (error) {
    if (!(error instanceof ConversionFailure)) throw error;
    throw new AppError("content_too_large", `${error.message} Read the text as Markdown.`);
  }
}

export const renderTasks = { render } as const;
