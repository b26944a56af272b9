/**
 * Markdown as the HTML of a page: made once for each text, in a worker thread, and kept in a bounded cache.
 *
 * A text that is too long or too tangled to be laid out in time is shown as it is, in plain letters. Which text an
 * address shows, and who may see it, is the caller's affair.
 */
import { createTextWorker } from "../convert/textWorker.ts";
import { markdownPackages, markdownProgram } from "./markdownProgram.ts";

export interface RenderedText {
  readonly html: string;
  /** Text of a first-level heading with which the text begins. */
  readonly heading?: string;
}

export interface PageRenderer {
  /** What was made of this text before. */
  recall(contentHash: string): RenderedText | undefined;
  /** Makes it, unless it is being made already; `undefined` when `load` has nothing. */
  render(contentHash: string, load: () => Promise<Uint8Array | undefined>): Promise<RenderedText | undefined>;
  close(): Promise<void>;
}

const maxCharacters = 1024 * 1024;
const maxHeapMiB = 512;
/** About 5 to 20 ms for each 1,000 characters are usual; what takes longer is tangled on purpose. */
const maxMsFor = (characters: number) => Math.min(2000 + characters / 20, 15_000);
/** Up to this length texts have a worker of their own, so that a long one does not hold them up. */
const shortCharacters = 32 * 1024;
const maxCachedCharacters = 16 * 1024 * 1024;

export function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

export function createPageRenderer(): PageRenderer {
  const createWorker = () => createTextWorker({ packages: markdownPackages, program: markdownProgram, maxHeapMiB });
  const short = createWorker();
  const long = createWorker();
  /** Content hash → page, least recently used first. */
  const cache = new Map<string, RenderedText>();
  const flights = new Map<string, Promise<RenderedText | undefined>>();
  let cachedCharacters = 0;

  function keep(contentHash: string, rendered: RenderedText): void {
    if (rendered.html.length > maxCachedCharacters / 4) return;
    cache.set(contentHash, rendered);
    cachedCharacters += rendered.html.length;
    for (const [oldest, { html }] of cache) {
      if (cachedCharacters <= maxCachedCharacters) break;
      cache.delete(oldest);
      cachedCharacters -= html.length;
    }
  }

  function recall(contentHash: string): RenderedText | undefined {
    const found = cache.get(contentHash);
    if (found === undefined) return undefined;
    cache.delete(contentHash);
    cache.set(contentHash, found);
    return found;
  }

  async function make(contentHash: string, load: () => Promise<Uint8Array | undefined>): Promise<RenderedText | undefined> {
    const bytes = await load();
    if (bytes === undefined) return undefined;
    const markdown = Buffer.from(bytes).toString();
    const worker = markdown.length > shortCharacters ? long : short;
    const outcome = markdown.length > maxCharacters ? { kind: "tooMuch" as const } : await worker.run(markdown, maxMsFor(markdown.length));
    const rendered: RenderedText =
      outcome.kind === "done" ? (JSON.parse(outcome.text) as RenderedText) : { html: `<pre class="plain">${escapeHtml(markdown)}</pre>` };
    keep(contentHash, rendered);
    return rendered;
  }

  return {
    recall,
    render(contentHash, load) {
      const flight = flights.get(contentHash) ?? make(contentHash, load).finally(() => flights.delete(contentHash));
      flights.set(contentHash, flight);
      return flight;
    },
    async close() {
      await Promise.all([short.close(), long.close()]);
    },
  };
}
