/**
 * PublicPage serves public pages over HTTP: `/p/{slug}` as HTML, `.md` as Markdown, `.json` as data, and their style.
 *
 * Anyone may read a public page, so each client address is limited by `rate.public`. Caches may store every answer but
 * must revalidate it for each request, redirects too: another page may take an earlier slug.
 */
import { type FoundPage, noPage, type PublicPages, type PublishedPage } from "../../domain/publishing/service.ts";
import { toAddressSubject } from "../calls/addressSubject.ts";
import type { RateLimits } from "../calls/rateLimits.ts";
import { createRequestContext } from "../calls/requestContext.ts";
import type { HttpReply, HttpRequest } from "../host/port.ts";
import type { Route } from "../host/router.ts";
import { createPageRenderer, type RenderedText } from "./pageRenderer.ts";
import { contentSecurityPolicy, stylePath, toErrorPageHtml, toPageHtml, toPageTag } from "./publicPageHtml.ts";
import { publicPageStyle } from "./publicPageStyle.ts";

export interface PublicPageOptions {
  readonly pages: PublicPages;
  readonly rateLimits: Pick<RateLimits, "draw">;
  /** Trusted proxies in front of the server (`TRUST_PROXY`). */
  readonly proxyHops: number;
}

export interface PublicPageRoutes {
  readonly routes: readonly Route[];
  close(): Promise<void>;
}

type Format = "html" | "md" | "json";

const pathForm = /^([a-z0-9](?:[a-z0-9-]{0,118}[a-z0-9])?)(?:\.(md|json))?$/;
/** After this many lookups the reader gets the latest rendered page, even if the text has changed during the rendering. */
const maxLookups = 3;
/** A text that is still missing after this many lookups is not a concurrent change but a damaged store. */
const maxMisses = 20;

const common = {
  "cache-control": "public, max-age=0, must-revalidate",
  "x-content-type-options": "nosniff",
  "referrer-policy": "strict-origin-when-cross-origin",
  "cross-origin-resource-policy": "cross-origin",
};
const mediaTypes: Readonly<Record<Format, string>> = {
  html: "text/html; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  json: "application/json",
};

function toHeaders(page: PublishedPage, format: Format): Record<string, string> {
  return {
    ...common,
    "content-type": mediaTypes[format],
    // JSON and Markdown must not run or load anything either if they are opened in a browser tab.
    "content-security-policy": format === "html" ? contentSecurityPolicy : "default-src 'none'; frame-ancestors 'none'",
    etag: format === "md" ? `"${page.contentHash}"` : `"${toPageTag(page)}${format === "json" ? "-j" : ""}"`,
    "x-svc-revision": String(page.revision),
    "x-svc-content-hash": page.contentHash,
    ...(page.indexable ? {} : { "x-robots-tag": "noindex" }),
  };
}

/** Evaluates `If-None-Match` with the weak comparison that RFC 9110 requires. */
function isFresh(request: HttpRequest, etag: string): boolean {
  const given = request.header("if-none-match");
  if (given === undefined) return false;
  return given.trim() === "*" || given.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

function wantsHtml(request: HttpRequest): boolean {
  return (request.header("accept") ?? "").includes("text/html");
}

export function createPublicPageRoutes({ pages, rateLimits, proxyHops }: PublicPageOptions): PublicPageRoutes {
  const renderer = createPageRenderer();
  /** Slug → the rendering in progress. Concurrent requests wait for it and then look the slug up again. */
  const making = new Map<string, Promise<{ readonly page: PublishedPage; readonly rendered: RenderedText } | undefined>>();

  async function make(page: PublishedPage) {
    const rendered = await renderer.render(page, () => pages.markdown(page));
    return rendered === undefined ? undefined : { page, rendered };
  }

  function toPageReply(page: PublishedPage, rendered: RenderedText): HttpReply {
    const { etag = "", ...headers } = toHeaders(page, "html");
    // A provisional page gets no etag: a client that sent it back would get 304 and keep the plain text.
    const kept: Record<string, string> = rendered.isProvisional ? { "cache-control": "no-store" } : { etag };
    return { status: 200, headers: { ...headers, ...kept }, body: toPageHtml(page, rendered) };
  }

  async function toHtmlReply(request: HttpRequest, slug: string): Promise<HttpReply> {
    let made: Awaited<ReturnType<typeof make>>;
    for (let lookups = 1; ; lookups += 1) {
      // Look the page up again after each wait, so that a page unpublished in the meantime is not shown.
      const page = await pages.find(slug);
      if (page.kind !== "published") return toErrorPage(request, page, "html");
      const headers = toHeaders(page, "html");
      if (isFresh(request, headers.etag ?? "")) return { status: 304, headers };
      const rendered = renderer.recall(page.contentHash) ?? (made?.page.contentHash === page.contentHash ? made.rendered : undefined);
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
      const headers = toHeaders(page, format);
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
      // A relative address also works behind a proxy that adds a path prefix.
      return { status: 301, headers: { ...common, location: format === "html" ? page.slug : `${page.slug}.${format}` } };
    }
    const { kind } = page;
    // Only this answer depends on `Accept`. Without `vary` a cache would serve the HTML to programs or the problem to browsers.
    const headersOfBoth = format === "html" ? { ...common, vary: "accept" } : common;
    if (format === "html" && wantsHtml(request)) {
      const headers = {
        ...headersOfBoth,
        "content-type": mediaTypes.html,
        "content-security-policy": contentSecurityPolicy,
        "x-robots-tag": "noindex",
      };
      return { status: kind === "unpublished" ? 410 : 404, headers, body: toErrorPageHtml(kind) };
    }
    throw noPage(kind, headersOfBoth);
  }

  const style: HttpReply = {
    status: 200,
    headers: {
      "content-type": "text/css; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "cross-origin",
    },
    body: publicPageStyle,
  };

  return {
    routes: [
      {
        method: "GET",
        path: "/p/{slug}",
        publicCors: true,
        async handle(request, params) {
          const { remoteAddress } = createRequestContext(request, proxyHops);
          const { refusal } = await rateLimits.draw(["rate.public"], toAddressSubject(remoteAddress));
          if (refusal !== undefined) throw refusal;
          const [, slug, format] = pathForm.exec(params.slug ?? "") ?? [];
          if (slug === undefined) return toErrorPage(request, { kind: "unknown" }, "html");
          return format === undefined ? toHtmlReply(request, slug) : toTextReply(request, slug, format as "md" | "json");
        },
      },
      { method: "GET", path: stylePath, publicCors: true, handle: () => style },
    ],
    close: () => renderer.close(),
  };
}
