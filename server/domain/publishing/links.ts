/**
 * PublicLinks publishes articles, changes, refreshes, synchronizes, unpublishes and lists their public links.
 *
 * The machine decides every transition. This module collects the input of a transition: the slug and the frozen text. The
 * text is frozen before the commit, so a page never refers to content that does not exist. `linkChange.ts` adds the other
 * changes of the commit.
 */
import type { Logger } from "pino";
import type { z } from "zod";
import type { PublicLinkMode } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { PublicLink, PublicLinkRequest, SnapshotRequest } from "../../../api/schema/publicLink.ts";
import type { LinkSettings, PublicLinkEvent } from "../../../machines/publicLink.ts";
import type { ActorRuntime, SendOptions, Timeless } from "../../platform/actors/port.ts";
import type { Partition, Storage, Stored } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
import type { ArticleEvents } from "../articles/port.ts";
import type { Call } from "../call/call.ts";
import type { PageQuery, Pager } from "../call/paging.ts";
import { requireMatch } from "../call/precondition.ts";
import { principalOf } from "../call/principal.ts";
import type { Freeze } from "./freeze.ts";
import { createGatherLinkChange, readLiveArticle } from "./linkChange.ts";
import { publicLinkKind } from "./publicLinkKind.ts";
import { modeOf, notPublished, syncStatusOf, toPublicLink } from "./publicLinkView.ts";
import { linksOf, type PublicLinkRecord, publicLinkRecord } from "./records.ts";
import type { Slugs } from "./slugs.ts";

/** A link as the API returns it, with the revision of its record for the ETag. */
export interface LinkView {
  readonly link: PublicLink;
  readonly revision: number;
  /** True when the article was not public before. */
  readonly created: boolean;
}

type LinkRequest = z.output<typeof PublicLinkRequest>;

export interface PublicLinks {
  get(call: Call, articleId: string): Promise<LinkView>;
  /** Publishes the article (mode Live by default), or changes its existing link. */
  put(call: Call, articleId: string, request: LinkRequest): Promise<LinkView>;
  /** Changes an existing link. Throws `not_published` when the article is not public. */
  update(call: Call, articleId: string, request: LinkRequest): Promise<LinkView>;
  refreshSnapshot(call: Call, articleId: string, request: z.output<typeof SnapshotRequest>): Promise<LinkView>;
  /** Restarts a synchronization that failed or waits for a retry. In any other status it changes nothing. */
  sync(call: Call, articleId: string): Promise<LinkView>;
  unpublish(call: Call, articleId: string): Promise<void>;
  list(call: Call, query: LinkQuery): Promise<{ readonly publicLinks: readonly PublicLink[]; readonly nextToken?: string }>;
}

export interface LinkQuery extends PageQuery {
  readonly workspaceId: string;
  readonly mode?: PublicLinkMode | undefined;
  readonly state?: PublicLink["state"] | undefined;
}

export interface PublicLinksOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "create" | "send">;
  readonly freeze: Freeze;
  readonly slugs: Slugs;
  readonly articleEvents: ArticleEvents;
  readonly pager: Pager;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly wake: (partition: Partition, dueAtMs: number) => void;
  readonly log: Logger;
}

const modeEvents = { live: "link.makeLive", snapshot: "link.makeSnapshot" } as const;

function wrongMode(mode: PublicLinkMode, wanted: PublicLinkMode): AppError {
  return new AppError("public_link_wrong_mode", `The link is in mode ${mode}; this operation needs mode ${wanted}.`, {
    currentState: mode,
  });
}

export function createPublicLinks(options: PublicLinksOptions): PublicLinks {
  const { storage, actors, freeze, slugs, articleEvents, pager, baseUrl, wake, log } = options;
  const audit = log.child({ stream: "audit" });
  const gatherBy = createGatherLinkChange({ storage, articleEvents, baseUrl, wake });
  const gatherFor = (call: Call) => gatherBy(principalOf(call).username);

  function note(call: Call, event: string, articleId: string, facts: object = {}): void {
    audit.info({ event, articleId, by: call.principal?.username, ...facts }, event);
  }

  const requireArticle = (articleId: string) => readLiveArticle(storage, articleId);

  async function requireLink(articleId: string): Promise<Stored<PublicLinkRecord> & { readonly mode: PublicLinkMode }> {
    const link = await storage.records.get(publicLinkRecord, articleId);
    const mode = link === undefined ? undefined : modeOf(link.value);
    if (link === undefined || mode === undefined) throw notPublished();
    return { ...link, mode };
  }

  function toView(record: PublicLinkRecord, revision: number, created = false): LinkView {
    const link = toPublicLink(record, baseUrl);
    if (link === undefined) throw new Error(`the link of ${record.id} is not public`);
    return { link, revision, created };
  }

  function toSendOptions(call: Call, created: boolean): SendOptions<PublicLinkRecord["context"]> {
    return { gather: gatherFor(call), commit: (batch, next, revision) => call.commit(batch, toView(next, revision, created)) };
  }

  async function send(
    call: Call,
    seen: Stored<PublicLinkRecord>,
    event: Timeless<PublicLinkEvent>,
    created = false,
  ): Promise<LinkView | typeof conflict> {
    // Frozen content is committed only if the link is unchanged since it was read. Otherwise an older text could replace the
    // newer text that readers have already seen.
    const hasContent = "content" in event;
    const atRevision = hasContent || call.ifMatch !== undefined ? { atRevision: seen.revision } : {};
    try {
      const { value, revision } = await actors.send(publicLinkKind, seen.value.id, event, {
        ...toSendOptions(call, created),
        ...atRevision,
      });
      return toView(value, revision, created);
    } catch (reason) {
      if (!(reason instanceof AppError)) throw reason;
      if (reason.code === "invalid_transition") return conflict;
      if (reason.code === "precondition_failed" && call.ifMatch === undefined) return conflict;
      throw reason;
    }
  }

  async function publish(call: Call, articleId: string, request: LinkRequest, before: Stored<PublicLinkRecord> | undefined) {
    if (call.ifMatch !== undefined) throw new AppError("precondition_failed", "The article has no public link, so If-Match cannot match.");
    const { value: article } = await requireArticle(articleId);
    const mode = request.mode ?? "live";
    const by = call.principal?.username ?? "";
    const content = await freeze.newest(articleId, article.title);
    const kept = before?.value.context.slug;
    const slug = request.slug ?? (await slugs.claimLike(kept ?? article.slug, articleId, call.ids));
    if (request.slug !== undefined) await slugs.claim(request.slug, articleId);
    const settings = { slug, indexable: request.indexable ?? false };
    const view =
      before === undefined
        ? await create(call, articleId, { articleId, workspaceId: article.workspaceId, mode, ...settings, by, content })
        : await send(call, before, { type: modeEvents[mode], content, settings, by }, true);
    if (view === conflict) return conflict;
    note(call, "link.published", articleId, { mode, slug });
    return view;
  }

  async function create(call: Call, articleId: string, input: object): Promise<LinkView | typeof conflict> {
    try {
      const { value, revision } = await actors.create(publicLinkKind, articleId, input, toSendOptions(call, true));
      return toView(value, revision, true);
    } catch (reason) {
      if (reason instanceof AppError && reason.code === "already_exists") return conflict;
      throw reason;
    }
  }

  async function change(call: Call, articleId: string, request: LinkRequest, link: Stored<PublicLinkRecord>, mode: PublicLinkMode) {
    requireMatch(call, link.revision);
    const { context } = link.value;
    const wanted = request.mode ?? mode;
    const slug = request.slug === context.slug ? undefined : request.slug;
    const indexable = request.indexable === context.indexable ? undefined : request.indexable;
    if (wanted === mode && slug === undefined && indexable === undefined) return toView(link.value, link.revision);
    const settings: LinkSettings = { ...(slug === undefined ? {} : { slug }), ...(indexable === undefined ? {} : { indexable }) };
    if (slug !== undefined) await slugs.claim(slug, articleId);
    let event: Timeless<PublicLinkEvent> = { type: "link.change", settings };
    if (wanted !== mode) {
      const { value: article } = await requireArticle(articleId);
      const content = await freeze.newest(articleId, article.title);
      event = { type: modeEvents[wanted], content, settings, by: call.principal?.username ?? "" };
    }
    const view = await send(call, link, event);
    if (view === conflict) return conflict;
    note(call, "link.changed", articleId, { mode: wanted, ...settings });
    return view;
  }

  return {
    async get(_call, articleId) {
      const { value, revision } = await requireLink(articleId);
      return toView(value, revision);
    },

    put: (call, articleId, request) =>
      retryOnConflict("publicLink", async () => {
        const link = await storage.records.get(publicLinkRecord, articleId);
        const mode = link === undefined ? undefined : modeOf(link.value);
        if (link === undefined || mode === undefined) return publish(call, articleId, request, link);
        return change(call, articleId, request, link, mode);
      }),

    update: (call, articleId, request) =>
      retryOnConflict("publicLink", async () => {
        const link = await requireLink(articleId);
        return change(call, articleId, request, link, link.mode);
      }),

    refreshSnapshot: (call, articleId, { revision }) =>
      retryOnConflict("publicLink", async () => {
        const link = await requireLink(articleId);
        if (link.mode !== "snapshot") throw wrongMode(link.mode, "snapshot");
        const { title } = (await requireArticle(articleId)).value;
        const content = await (revision === undefined ? freeze.newest(articleId, title) : freeze.at(articleId, revision, title));
        if (content === undefined) {
          throw new AppError(
            "revision_gone",
            `Revision ${revision} is neither kept nor committed; leave the field out to use the newest revision.`,
          );
        }
        const view = await send(call, link, { type: "link.refresh", content });
        if (view !== conflict) note(call, "link.refreshed", articleId, { revision: content.revision });
        return view;
      }),

    sync: (call, articleId) =>
      retryOnConflict("publicLink", async () => {
        const link = await requireLink(articleId);
        if (link.mode !== "live") throw wrongMode(link.mode, "live");
        const status = syncStatusOf(link.value);
        if (status !== "retrying" && status !== "failed") return toView(link.value, link.revision);
        return send(call, link, { type: "link.sync" });
      }),

    async unpublish(call, articleId) {
      await retryOnConflict("publicLink", async () => {
        const link = await requireLink(articleId);
        requireMatch(call, link.revision);
        const atRevision = call.ifMatch === undefined ? {} : { atRevision: link.revision };
        try {
          await actors.send(
            publicLinkKind,
            articleId,
            { type: "link.unpublish" },
            { gather: gatherFor(call), commit: (batch) => call.commit(batch), ...atRevision },
          );
        } catch (reason) {
          if (reason instanceof AppError && reason.code === "invalid_transition") return conflict;
          throw reason;
        }
        note(call, "link.unpublished", articleId, { slug: link.value.context.slug });
        return undefined;
      });
    },

    async list(call, { workspaceId, mode, state, limit, nextToken }) {
      if (call.access === undefined) throw new Error("a list of public links needs a workspace");
      const { items, ...rest } = await pager.page<PublicLink>({
        scope: `public-links?mode=${mode ?? ""}&state=${state ?? ""}`,
        partition: call.access.partition,
        prefix: linksOf(workspaceId),
        reverse: true,
        limit,
        nextToken,
        async load(keys) {
          const stored = await storage.records.getMany(publicLinkRecord, keys);
          return stored.map((link) => (link === undefined ? undefined : toPublicLink(link.value, baseUrl)));
        },
        keep: (link) => (mode === undefined || link.mode === mode) && (state === undefined || link.state === state),
      });
      return { publicLinks: items, ...rest };
    },
  };
}
