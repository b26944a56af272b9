/**
 * Markdown as the HTML of a page: made once for each text, in a thread, and kept in a bounded cache.
 *
 * A text that is too long or too tangled to be laid out in time is shown as it is, in plain letters, and not tried
 * again. Owners of texts take turns, and none has all threads: nobody's texts hold up everybody's pages. Which text an
 * address shows, and who may see it, is the caller's affair.
 */
import { createTextWorkers, toProgramFile } from "../convert/textWorker.ts";
import type { LaidOutText } from "./markdownPage.ts";
import type { PageTasks } from "./pageThread.ts";

export interface RenderedText extends LaidOutText {
  /** Plain for want of a free thread: the next reader may get more. */
  readonly isProvisional?: true;
}

export interface TextOfPage {
  /** Whose turn it takes. */
  readonly workspaceId: string;
  readonly contentHash: string;
}

export interface PageRenderer {
  /** What was made of this text before. */
  recall(contentHash: string): RenderedText | undefined;
  /** Makes it, unless it is being made already; `undefined` when `load` has nothing. */
  render(text: TextOfPage, load: () => Promise<Uint8Array | undefined>): Promise<RenderedText | undefined>;
  close(): Promise<void>;
}

const maxCharacters = 1024 * 1024;
const maxHtmlCharacters = 4 * 1024 * 1024;
const maxHeapMiB = 512;
/** About 6 ms for each 1,000 characters are usual; what takes much longer is tangled on purpose. */
const maxMsFor = (characters: number) => Math.min(2000 + characters / 200, 6000);
/** Then the page is shown plain this once: what is before it is no fault of its own. */
const maxWaitMs = 4000;
const maxWaiting = 20;
/** Up to this length texts have threads of their own, so that long ones do not hold them up. */
const shortCharacters = 32 * 1024;
const maxCachedCharacters = 16 * 1024 * 1024;
const maxRefused = 10_000;

const entities = [
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
] as const;

export function escapeHtml(text: string): string {
  return entities.reduce((escaped, [character, entity]) => escaped.replaceAll(character, entity), text);
}

function toPlain(markdown: string): RenderedText {
  return { html: `<pre class="plain">${escapeHtml(markdown)}</pre>` };
}

export function createPageRenderer(): PageRenderer {
  const program = toProgramFile("pageThread", import.meta.url);
  const createThreads = () => createTextWorkers<PageTasks>({ program, threads: 2, maxHeapMiB, maxWaiting });
  const short = createThreads();
  const long = createThreads();
  /** Content hash → page, least recently used first. */
  const cache = new Map<string, RenderedText>();
  /** Hashes of texts that cannot be laid out, oldest first. */
  const refused = new Set<string>();
  const flights = new Map<string, Promise<RenderedText | undefined>>();
  let cachedCharacters = 0;

  function keep(contentHash: string, rendered: RenderedText): RenderedText {
    if (rendered.html.length > maxHtmlCharacters) return rendered;
    cache.set(contentHash, rendered);
    cachedCharacters += rendered.html.length;
    for (const [oldest, { html }] of cache) {
      if (cachedCharacters <= maxCachedCharacters) break;
      cache.delete(oldest);
      cachedCharacters -= html.length;
    }
    return rendered;
  }

  function recall(contentHash: string): RenderedText | undefined {
    const found = cache.get(contentHash);
    if (found === undefined) return undefined;
    cache.delete(contentHash);
    cache.set(contentHash, found);
    return found;
  }

  async function layOut(owner: string, markdown: string) {
    if (markdown.length > maxCharacters) return { kind: "tooMuch" } as const;
    const threads = markdown.length > shortCharacters ? long : short;
    const outcome = await threads.run("page", markdown, { owner, maxMs: maxMsFor(markdown.length), maxWaitMs });
    const isHuge = outcome.kind === "done" && outcome.value.html.length > maxHtmlCharacters;
    return isHuge ? ({ kind: "tooMuch" } as const) : outcome;
  }

  async function make(text: TextOfPage, load: () => Promise<Uint8Array | undefined>): Promise<RenderedText | undefined> {
    const { workspaceId, contentHash } = text;
    const bytes = await load();
    if (bytes === undefined) return undefined;
    const markdown = Buffer.from(bytes).toString();
    if (refused.has(contentHash)) return keep(contentHash, toPlain(markdown));
    const outcome = await layOut(workspaceId, markdown);
    if (outcome.kind === "done") return keep(contentHash, outcome.value);
    if (outcome.kind === "busy") return { ...toPlain(markdown), isProvisional: true };
    refused.add(contentHash);
    for (const oldest of refused) {
      if (refused.size <= maxRefused) break;
      refused.delete(oldest);
    }
    return keep(contentHash, toPlain(markdown));
  }

  return {
    recall,
    render(text, load) {
      const { contentHash } = text;
      const flight = flights.get(contentHash) ?? make(text, load).finally(() => flights.delete(contentHash));
      flights.set(contentHash, flight);
      return flight;
    },
    async close() {
      await Promise.all([short.close(), long.close()]);
    },
  };
}
