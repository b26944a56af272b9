/**
 * PageStreams knows the event streams of public pages: their events come from the log of publications, which has an entry
 * for each change of what a page shows (PL25).
 *
 * A reader gets the newest entry first, because the page may have changed since it was loaded. After an absence it gets
 * only the newest entry, because earlier ones are of no use to a page. The stream ends when the page is not public any
 * more. This module must not know HTTP.
 */
import type { ShownText } from "../../../machines/publicLink.ts";
import { decodePublication, publicationLog } from "../../domain/publishing/publicationLog.ts";
import { publicLinkRecord } from "../../domain/publishing/records.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { OpenedStream, OpenSource, PageEvent } from "./port.ts";
import { readPosition, type StreamLogs } from "./streamLogs.ts";

export interface PageStreamsOptions {
  readonly storage: Pick<Storage, "records">;
  readonly logs: StreamLogs;
}

export interface PageStreams {
  readonly source: OpenSource;
  /** Throws `bad_request` if the resume token is none of this kind of stream. */
  open(articleId: string, lastEventId: string | undefined): Promise<OpenedStream>;
}

function toPageEvent({ shown }: { readonly shown?: Pick<ShownText, "revision" | "contentHash"> | undefined }): PageEvent {
  if (shown === undefined) return { event: "page.removed", data: {} };
  const { revision, contentHash } = shown;
  return { event: "page.updated", data: { revision, contentHash } };
}

export function createPageStreams({ storage, logs }: PageStreamsOptions): PageStreams {
  /** The content that the page shows; undefined if it is not public. An expiry counts from its entry in the log. */
  async function findShown(articleId: string) {
    const link = await storage.records.get(publicLinkRecord, articleId);
    return link === undefined || link.value.state === "expired" ? undefined : link.value.context.content;
  }

  return {
    source: (articleId) => ({
      log: publicationLog(articleId),
      toItem: (entry) => ({ kind: "event", token: String(entry.position), event: toPageEvent(decodePublication(entry)) }),
      toToken: String,
      async snapshot() {
        // Read the tail first: a change between the two reads is then sent twice instead of never.
        const tail = await logs.tail(publicationLog(articleId));
        const content = await findShown(articleId);
        return { snapshot: { ...toPageEvent({ shown: content }) }, tail };
      },
      isOver: async () => (await findShown(articleId)) === undefined,
    }),

    async open(articleId, lastEventId) {
      const log = publicationLog(articleId);
      const read = lastEventId === undefined ? undefined : readPosition(lastEventId, "the id of one of its events, a decimal number");
      const tail = await logs.tail(log);
      return { log, position: read === tail ? tail : Math.max(0, tail - 1), isOver: false };
    },
  };
}
