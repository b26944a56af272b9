/**
 * PageStreamRoute serves the event stream of a public page, `GET /p/{slug}/events`, to pages of every origin.
 *
 * An earlier slug redirects like its page. A page that is not public answers 410 or 404, which stops an EventSource.
 */
import { readQuery } from "../../../api/derive/rest.ts";
import { PublicSlug } from "../../../api/schema/publicLink.ts";
import { noPage, type PublicPages } from "../../domain/publishing/service.ts";
import { toPublicRoute } from "../calls/publicRoute.ts";
import type { ServedRoute } from "../calls/restHttp.ts";
import type { CallWrapper } from "../calls/wrapper.ts";
import type { HttpReply, HttpRequest, StreamedBody } from "../host/port.ts";
import { eventStreamHeaders } from "./eventStream.ts";
import type { PageReaders } from "./pageReaders.ts";
import type { PageStreams } from "./pageStreams.ts";
import type { OpenedStream } from "./port.ts";
import type { AdmittedReader } from "./streamGate.ts";
import { isTemporary, retryReply } from "./streamRoutes.ts";

export interface PageStreamRouteOptions {
  readonly pages: Pick<PublicPages, "find">;
  readonly readers: PageReaders;
  readonly streams: PageStreams;
  readonly calls: Pick<CallWrapper, "refuse">;
  readonly view: (reader: AdmittedReader, opened: OpenedStream) => StreamedBody;
}

const path = "/p/{slug}/events";
/** A redirect must be asked for again each time, because another page may take the earlier slug. */
const headersOfRedirect = { "cache-control": "public, max-age=0, must-revalidate" };

/** The header overrides the query, because an EventSource updates only the header. */
function toLastEventId(request: HttpRequest): string | undefined {
  const header = request.header("last-event-id");
  return header === undefined || header === "" ? readQuery(request.query)?.get("lastEventId")?.[0] : header;
}

export function toPageStreamRoute({ pages, readers, streams, calls, view }: PageStreamRouteOptions): ServedRoute {
  async function open(request: HttpRequest, slug: string, remoteAddress: string): Promise<HttpReply> {
    const page = PublicSlug.safeParse(slug).success ? await pages.find(slug) : ({ kind: "unknown" } as const);
    if (page.kind === "moved") return { status: 301, headers: { ...headersOfRedirect, location: `../${page.slug}/events` } };
    if (page.kind !== "published") throw noPage(page.kind);
    if (request.method === "HEAD") return { status: 200, headers: eventStreamHeaders };
    const opened = await streams.open(page.articleId, toLastEventId(request));
    return { status: 200, headers: eventStreamHeaders, body: view(readers.admit(remoteAddress), opened) };
  }

  return toPublicRoute({
    path,
    calls,
    draw: readers.draw,
    answer: async (request, params, context) => {
      try {
        return await open(request, params.slug ?? "", context.remoteAddress);
      } catch (reason) {
        if (isTemporary(reason, request)) return retryReply(context);
        throw reason;
      }
    },
  });
}
