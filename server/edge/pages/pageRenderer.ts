/**
 * PageRenderer renders Markdown to HTML, once per text and title, in a worker thread, and caches the result in bounded memory.
 *
 * A text that is too long or too complex to render in time is shown as plain text and not rendered again. Workspaces
 * take turns and none may use all threads, so that the texts of one workspace cannot block the pages of the others.
 * This module must not know which text an address shows or who may read it: the caller decides that.
 */
import { LRUCache } from "lru-cache";
import { toProgramFile } from "../../platform/workers/programFile.ts";
import { createWorkerPool } from "../../platform/workers/workerPool.ts";
import { escapeHtml } from "./escapeHtml.ts";
import type { LaidOutText } from "./markdownPage.ts";
import type { PageTasks } from "./page.worker.ts";

export interface RenderedText extends LaidOutText {
  /** Plain text because no thread was free. The next request may get the rendered page. */
  readonly isProvisional?: true;
}

export interface TextOfPage {
  /** Workspace whose turn the rendering takes. */
  readonly workspaceId: string;
  readonly contentHash: string;
  /** Title of the page, which the text may repeat. */
  readonly title: string;
}

export interface PageRenderer {
  /** Returns the cached result for this text under this title, or undefined. */
  recall(text: Omit<TextOfPage, "workspaceId">): RenderedText | undefined;
  /** Renders the text; concurrent calls share one rendering. Returns `undefined` if `load` returns `undefined`. */
  render(text: TextOfPage, load: () => Promise<Uint8Array | undefined>): Promise<RenderedText | undefined>;
  close(): Promise<void>;
}

const maxCharacters = 1024 * 1024;
const maxHtmlCharacters = 4 * 1024 * 1024;
const maxHeapMiB = 512;
/** Time limit for one text in ms. Usual texts take about 6 ms per 1,000 characters; much slower ones are hostile. */
const maxMsFor = (characters: number) => Math.min(2000 + characters / 200, 6000);
/** Longest wait for a thread. After it the page is plain text for this request only, because the text is not at fault. */
const maxWaitMs = 4000;
const maxWaiting = 20;
/** Texts up to this length have separate threads, so that long texts do not delay them. */
const shortCharacters = 32 * 1024;
const maxCachedCharacters = 16 * 1024 * 1024;
const maxRefused = 10_000;

const toKey = ({ contentHash, title }: Omit<TextOfPage, "workspaceId">): string => `${contentHash} ${title}`;

function toPlain(markdown: string): RenderedText {
  return { html: `<pre class="plain" dir="auto">${escapeHtml(markdown)}</pre>`, dir: "ltr", headings: [] };
}

export function createPageRenderer(): PageRenderer {
  const program = toProgramFile("page.worker");
  const createThreads = () => createWorkerPool<PageTasks>({ program, threads: 2, maxHeapMiB, maxWaiting });
  const short = createThreads();
  const long = createThreads();
  /** Content hash and title → rendered text. */
  const cache = new LRUCache<string, RenderedText>({
    maxSize: maxCachedCharacters,
    maxEntrySize: maxHtmlCharacters,
    // An empty page counts as one character, because a cache entry must have a size.
    sizeCalculation: ({ html }) => Math.max(1, html.length),
  });
  /** Content hashes of texts that cannot be rendered. */
  const refused = new LRUCache<string, true>({ max: maxRefused });
  const flights = new Map<string, Promise<RenderedText | undefined>>();

  function keep(text: TextOfPage, rendered: RenderedText): RenderedText {
    cache.set(toKey(text), rendered);
    return rendered;
  }

  async function layOut({ workspaceId: owner, title }: TextOfPage, markdown: string) {
    if (markdown.length > maxCharacters) return { kind: "tooMuch" } as const;
    const threads = markdown.length > shortCharacters ? long : short;
    const outcome = await threads.run("page", { title, markdown }, { owner, maxMs: maxMsFor(markdown.length), maxWaitMs });
    const isTooLong = outcome.kind === "done" && outcome.value.html.length > maxHtmlCharacters;
    return isTooLong ? ({ kind: "tooMuch" } as const) : outcome;
  }

  async function make(text: TextOfPage, load: () => Promise<Uint8Array | undefined>): Promise<RenderedText | undefined> {
    const { contentHash } = text;
    const bytes = await load();
    if (bytes === undefined) return undefined;
    const markdown = Buffer.from(bytes).toString();
    if (refused.has(contentHash)) return keep(text, toPlain(markdown));
    const outcome = await layOut(text, markdown);
    if (outcome.kind === "done") return keep(text, outcome.value);
    if (outcome.kind === "busy") return { ...toPlain(markdown), isProvisional: true };
    refused.set(contentHash, true);
    return keep(text, toPlain(markdown));
  }

  return {
    recall: (text) => cache.get(toKey(text)),
    render(text, load) {
      const key = toKey(text);
      const flight = flights.get(key) ?? make(text, load).finally(() => flights.delete(key));
      flights.set(key, flight);
      return flight;
    },
    async close() {
      await Promise.all([short.close(), long.close()]);
    },
  };
}
