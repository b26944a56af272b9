/**
 * PublicPage serves public pages over HTTP: `/p/{slug}` as HTML, `.md` as Markdown, `.json` as data, `/p/{slug}/card.png`
 * as their picture, and their style and script.
 *
 * Anyone may read a public page, so each client address is limited by `rate.public`, and every answer shows that limit.
 * Caches may store every answer but must revalidate it for each request, redirects too: another page may take an earlier
 * slug.
 */
import { type FoundPage, noPage, type PublicPages, type PublishedPage } from "../../domain/publishing/service.ts";
import { toAddressSubject } from "../calls/addressSubject.ts";
import { toPublicRoute } from "../calls/publicRoute.ts";
import type { RateLimits } from "../calls/rateLimits.ts";
import type { ServedRoute } from "../calls/restHttp.ts";
import type { CallWrapper } from "../calls/wrapper.ts";
import { hasTag } from "../host/entityTag.ts";
import type { HttpReply, HttpRequest } from "../host/port.ts";
import type { PathParams, Route } from "../host/router.ts";
import { createCardRenderer } from "./cardRenderer.ts";
import { cardPath } from "./pageCardLayout.ts";
import { createPageRenderer, type RenderedText } from "./pageRenderer.ts";
import { pageAssetRoutes, toContentSecurityPolicy, toErrorPageHtml, toPageHtml, toPageTag } from "./publicPageHtml.ts";

export interface PublicPageOptions {
  readonly pages: PublicPages;
  /** Counted by this node alone, because pages are served while the store is unreachable (PL15). */
  readonly pageLimits: Pick<RateLimits, "draw">;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

export interface PublicPageRoutes {
  /** The pages and their other forms. */
  routes(calls: Pick<CallWrapper, "refuse">): readonly ServedRoute[];
  /** Style and script. They are the same for all pages and not limited. */
  readonly assets: readonly Route[];
  close(): Promise<void>;
}

type Format = "html" | "md" | "json" | "png";

const pathForm = /^([a-z0-9](?:[a-z0-9-]{0,118}[a-z0-9])?)(?:\.(md|json))?$/;
/** After this many lookups the reader gets the latest rendered page, even if the text has changed during the rendering. */
const maxLookups = 3;
/** A text that is still missing after this many lookups is not a concurrent change but a damaged store. */
const maxMisses = 20;

const common = {
  "cache-control": "public, max-age=0, must-revalidate",
  "referrer-policy": "strict-origin-when-cross-origin",
  "cross-origin-resource-policy": "cross-origin",
};
const mediaTypes: Readonly<Record<Format, string>> = {
  html: "text/html; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  json: "application/json",
  png: "image/png",
};
/** Anything but the page itself must not run or load anything either if it is opened in a browser tab. */
const inertPolicy = "default-src 'none'; frame-ancestors 'none'";

function toHeaders(page: PublishedPage, format: Format, tag: string): Record<string, string> {
  return {
    ...common,
    "content-type": mediaTypes[format],
    "content-security-policy": format === "html" ? toContentSecurityPolicy(page.mode === "live") : inertPolicy,
    etag: `"${tag}"`,
    "x-svc-revision": String(page.revision),
    "x-svc-content-hash": page.contentHash,
    ...(page.indexable ? {} : { "x-robots-tag": "noindex" }),
  };
}

/** Returns the address of a page relative to another one, so that it also works behind a proxy that adds a path prefix. */
function toLocation(slug: string, format: Format): string {
  if (format === "html") return slug;
  return format === "png" ? `../${slug}/card.png` : `${slug}.${format}`;
}

function isFresh(request: HttpRequest, etag: string): boolean {
  return hasTag(request.header("if-none-match"), etag);
}

function wantsHtml(request: HttpRequest): boolean {
  return (request.header("accept") ?? "").includes("text/html");
}

export function createPublicPageRoutes({ pages, pageLimits, baseUrl }: PublicPageOptions): PublicPageRoutes {
  const renderer = createPageRenderer();
  const cards = createCardRenderer();
  const site = baseUrl.replace(/^https?:\/\//, "");
  /** Slug → the rendering in progress. Concurrent requests wait for it and then look the slug up again. */
  const making = new Map<string, Promise<{ readonly page: PublishedPage; readonly rendered: RenderedText } | undefined>>();

  async function make(page: PublishedPage) {
    const rendered = await renderer.render(page, () => pages.markdown(page));
    return rendered === undefined ? undefined : { page, rendered };
  }

  function toPageReply(page: PublishedPage, rendered: RenderedText): HttpReply {
    const { etag = "", ...headers } = toHeaders(page, "html", toPageTag(page, baseUrl));
    // A provisional page gets no etag: a client that sent it back would get 304 and keep the plain text.
    const kept: Record<string, string> = rendered.isProvisional ? { "cache-control": "no-store" } : { etag };
    return { status: 200, headers: { ...headers, ...kept }, body: toPageHtml(page, rendered, baseUrl) };
  }

  async function toHtmlReply(request: HttpRequest, slug: string): Promise<HttpReply> {
    let made: Awaited<ReturnType<typeof make>>;
    for (let lookups = 1; ; lookups += 1) {
      // Look the page up again after each wait, so that a page unpublished in the meantime is not shown.
      const page = await pages.find(slug);
      if (page.kind !== "published") return toErrorPage(request, page, "html");
      const headers = toHeaders(page, "html", toPageTag(page, baseUrl));
      if (isFresh(request, headers.etag ?? "")) return { status: 304, headers };
      const isMade = made?.page.contentHash === page.contentHash && made.page.title === page.title;
      const rendered = renderer.recall(page) ?? (isMade ? made?.rendered : undefined);
      if (rendered !== undefined) return toPageReply(page, rendered);
      if (lookups > maxLookups && made !== undefined) {
        return toPageReply(made.page, made.rendered);
      }
      const flight = making.get(slug) ?? make(page).finally(() => making.delete(slug));
      making.set(slug, flight);
      made = (await flight) ?? made;
      if (made === undefined && lookups > maxMisses) throw new Error(`the text ${page.contentHash} of a public page is missing`);
    }
  }

  async function toTextReply(request: HttpRequest, slug: string, format: "md" | "json"): Promise<HttpReply> {
    for (let lookups = 1; ; lookups += 1) {
      const page = await pages.find(slug);
      if (page.kind !== "published") return toErrorPage(request, page, format);
      const headers = toHeaders(page, format, format === "md" ? page.contentHash : `${toPageTag(page, baseUrl)}-j`);
      if (isFresh(request, headers.etag ?? "")) return { status: 304, headers };
      const bytes = await pages.markdown(page);
      if (bytes === undefined) {
        if (lookups > maxMisses) throw new Error(`the text ${page.contentHash} of a public page is missing`);
        continue;
      }
      if (format === "md") return { status: 200, headers, body: bytes };
      const { title, mode, revision, contentHash, updatedAtMs } = page;
      const markdown = Buffer.from(bytes).toString();
      const updatedAt = updatedAtMs / 1000;
      return { status: 200, headers, body: JSON.stringify({ title, slug, mode, revision, contentHash, markdown, updatedAt }) };
    }
  }

  /** Answers for an earlier slug, and for a page that is not public: HTML for browsers, otherwise a problem (thrown as `AppError`). */
  function toErrorPage(request: HttpRequest, page: Exclude<FoundPage, PublishedPage>, format: Format): HttpReply {
    if (page.kind === "moved") {
      return { status: 301, headers: { ...common, location: toLocation(page.slug, format) } };
    }
    const { kind } = page;
    // Only this answer depends on `Accept`. Without `vary` a cache would serve the HTML to programs or the problem to browsers.
    const headersOfBoth = format === "html" ? { ...common, vary: "accept" } : common;
    if (format === "html" && wantsHtml(request)) {
      const headers = {
        ...headersOfBoth,
        "content-type": mediaTypes.html,
        "content-security-policy": toContentSecurityPolicy(false),
        "x-robots-tag": "noindex",
      };
      return { status: kind === "unpublished" ? 410 : 404, headers, body: toErrorPageHtml(kind) };
    }
    throw noPage(kind, headersOfBoth);
  }

  async function toCardReply(request: HttpRequest, slug: string): Promise<HttpReply> {
    const page = await pages.find(slug);
    if (page.kind !== "published") return toErrorPage(request, page, "png");
    const text = { title: page.title, site };
    const headers = toHeaders(page, "png", cards.tagOf(text));
    if (isFresh(request, headers.etag ?? "")) return { status: 304, headers };
    const body = await cards.draw(page.workspaceId, text);
    // The page may have been taken down while the picture was drawn.
    const found = await pages.find(slug);
    return found.kind === "published" ? { status: 200, headers, body } : toErrorPage(request, found, "png");
  }

  const draw = (remoteAddress: string) => pageLimits.draw(["rate.public"], toAddressSubject(remoteAddress));

  async function toTextOrHtmlReply(request: HttpRequest, params: PathParams): Promise<HttpReply> {
    const [, slug, format] = pathForm.exec(params.slug ?? "") ?? [];
    if (slug === undefined) return toErrorPage(request, { kind: "unknown" }, "html");
    return format === undefined ? toHtmlReply(request, slug) : toTextReply(request, slug, format as "md" | "json");
  }

  async function toPictureReply(request: HttpRequest, { slug = "" }: PathParams): Promise<HttpReply> {
    return pathForm.exec(slug)?.[1] === slug ? toCardReply(request, slug) : toErrorPage(request, { kind: "unknown" }, "png");
  }

  return {
    routes: (calls) => [
      toPublicRoute({ path: "/p/{slug}", calls, draw, answer: toTextOrHtmlReply }),
      toPublicRoute({ path: cardPath("{slug}"), calls, draw, answer: toPictureReply }),
    ],
    assets: pageAssetRoutes,
    async close() {
      await Promise.all([renderer.close(), cards.close()]);
    },
  };
}
