/**
 * PublicLinks publishes articles, changes, refreshes, synchronizes, compares and unpublishes their public links.
 *
 * The machine decides every transition. This module collects the input of a transition: the slug and the frozen text. The
 * text passes the gate and is frozen before the commit, so a page never refers to content that does not exist.
 * `linkChange.ts` adds the other changes of the commit.
 */
import type { Logger } from "pino";
import type { z } from "zod";
import type { ArticleDiff, DiffFormat, PublicLinkMode } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { PublishGate as GateSetting, PublicLink, SnapshotRequest } from "../../../api/schema/publicLink.ts";
import type { FrozenContent, PublicLinkEvent } from "../../../machines/publicLink.ts";
import type { ActorRuntime, SendOptions, Timeless } from "../../platform/actors/port.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
import type { Documents } from "../articles/port.ts";
import type { ArticleRecord } from "../articles/records.ts";
import type { Call } from "../call/call.ts";
import { requireMatch } from "../call/precondition.ts";
import { principalOf } from "../call/principal.ts";
import { type Freeze, publicFile } from "./freeze.ts";
import type { PublishGate } from "./gate.ts";
import { type GatherLinkChange, readLiveArticle } from "./linkChange.ts";
import { type LinkRequest, requireFuture, toChangedSettings, toNewSettings } from "./linkSettings.ts";
import { publicLinkKind } from "./publicLinkKind.ts";
import { isExpired, modeOf, notPublished, syncStatusOf, toPublicLink } from "./publicLinkView.ts";
import { type PublicLinkRecord, publicLinkRecord } from "./records.ts";
import type { Slugs } from "./slugs.ts";

/** Facts of an answer that are not part of the link. */
interface ViewFacts {
  /** True when the article was not public before. */
  readonly created: boolean;
  /** Findings of the gate in the text that was published; absent if the gate checked none. */
  readonly findings?: number | undefined;
}

/** A link as the API returns it, with both parts of its ETag. */
export interface LinkView extends ViewFacts {
  readonly link: PublicLink;
  /** Rises with everything that `link` shows, also with each synchronization. */
  readonly revision: number;
  /** Rises with the changes by requests and the expiry. `If-Match` compares it. */
  readonly metaRevision: number;
}

export interface PublicLinks {
  get(call: Call, articleId: string): Promise<LinkView>;
  /** Publishes the article (mode Live by default), or changes its existing link. */
  put(call: Call, articleId: string, request: LinkRequest): Promise<LinkView>;
  /** Changes an existing link. Throws `not_published` when the article is not public. */
  update(call: Call, articleId: string, request: LinkRequest): Promise<LinkView>;
  refreshSnapshot(call: Call, articleId: string, request: z.output<typeof SnapshotRequest>): Promise<LinkView>;
  /** Restarts a synchronization that failed or waits for a retry. In any other status it changes nothing. */
  sync(call: Call, articleId: string): Promise<LinkView>;
  /** Compares the text of the page with the live text. */
  diff(call: Call, articleId: string, format: DiffFormat | undefined): Promise<ArticleDiff>;
  unpublish(call: Call, articleId: string): Promise<void>;
}

export interface PublicLinksOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "create" | "send">;
  readonly documents: Pick<Documents, "diffFrom">;
  readonly freeze: Freeze;
  readonly gate: PublishGate;
  readonly slugs: Slugs;
  readonly gatherBy: GatherLinkChange;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly log: Logger;
}

const modeEvents = { live: "link.makeLive", snapshot: "link.makeSnapshot" } as const;
const unchanged: ViewFacts = { created: false };

/** A text that has passed the gate and is frozen. */
interface GatedContent {
  readonly content: FrozenContent;
  readonly findings: number | undefined;
}

/** True if the actor refused an event because it has changed since it was read. */
function isOutdated(reason: unknown): boolean {
  return reason instanceof AppError && (reason.code === "invalid_transition" || reason.code === "precondition_failed");
}

function wrongMode(mode: PublicLinkMode, wanted: PublicLinkMode): AppError {
  return new AppError("public_link_wrong_mode", `The link is in mode ${mode}; this operation needs mode ${wanted}.`, {
    currentState: mode,
  });
}

export function createPublicLinks(options: PublicLinksOptions): PublicLinks {
  const { storage, actors, documents, freeze, gate, slugs, gatherBy, baseUrl, log } = options;
  const audit = log.child({ stream: "audit" });
  const gatherFor = (call: Call) => gatherBy(principalOf(call).username);

  function note(call: Call, event: string, articleId: string, facts: object = {}): void {
    audit.info({ event, articleId, by: call.principal?.username, ...facts }, event);
  }

  /** True if the page is expired by store time and its timer has not fired yet. */
  const isOverdue = (link: PublicLinkRecord) => link.state !== "expired" && isExpired(link, storage.now());

  async function requireLink(articleId: string): Promise<Stored<PublicLinkRecord> & { readonly mode: PublicLinkMode }> {
    const link = await storage.records.get(publicLinkRecord, articleId);
    const mode = link === undefined ? undefined : modeOf(link.value);
    if (link === undefined || mode === undefined) throw notPublished();
    return { ...link, mode };
  }

  function toView(record: PublicLinkRecord, revision: number, facts: ViewFacts = unchanged): LinkView {
    const link = toPublicLink(record, baseUrl, storage.now());
    if (link === undefined) throw new Error(`the link of ${record.id} is not public`);
    // The tag of an overdue link is the one after its expiry, because the link already says `expired`.
    const late = isOverdue(record) ? 1 : 0;
    return { link, revision: revision + late, metaRevision: (record.context.metaRevision ?? 0) + late, ...facts };
  }

  function toSendOptions(call: Call, facts: ViewFacts): SendOptions<PublicLinkRecord["context"]> {
    return { gather: gatherFor(call), commit: (batch, next, revision) => call.commit(batch, toView(next, revision, facts)) };
  }

  async function send(
    call: Call,
    seen: Stored<PublicLinkRecord>,
    event: Timeless<PublicLinkEvent>,
    facts: ViewFacts = unchanged,
  ): Promise<LinkView | typeof conflict> {
    // Frozen content is committed only if the link is unchanged since it was read. Otherwise an older text could replace the
    // newer text that readers have already seen. With `If-Match`, the link must be the version that was compared.
    const atRevision = "content" in event || call.ifMatch !== undefined ? { atRevision: seen.revision } : {};
    try {
      const { value, revision } = await actors.send(publicLinkKind, seen.value.id, event, {
        ...toSendOptions(call, facts),
        ...atRevision,
      });
      return toView(value, revision, facts);
    } catch (reason) {
      if (isOutdated(reason)) return conflict;
      throw reason;
    }
  }

  /** Freezes the newest text, or that of a revision, after the gate has checked it. */
  async function freezeGated({ articleId, workspaceId, title }: ArticleRecord, setting: GateSetting = "off", revision?: number) {
    const text = await freeze.read(articleId, revision);
    if (text === undefined) {
      throw new AppError(
        "revision_gone",
        `Revision ${revision} is neither kept nor committed; leave the field out to use the newest revision.`,
      );
    }
    const findings = await gate.check(setting, text.markdown, workspaceId);
    return { content: await freeze.store(articleId, title, text), findings } satisfies GatedContent;
  }

  async function publish(call: Call, articleId: string, request: LinkRequest, before: Stored<PublicLinkRecord> | undefined) {
    if (call.ifMatch !== undefined) throw new AppError("precondition_failed", "The article has no public link, so If-Match cannot match.");
    const { value: article } = await readLiveArticle(storage, articleId);
    const mode = request.mode ?? "live";
    const by = call.principal?.username ?? "";
    const { content, findings } = await freezeGated(article, request.gate);
    const kept = before?.value.context.slug;
    const slug = request.slug ?? (await slugs.claimLike(kept ?? article.slug, articleId, call.ids));
    if (request.slug !== undefined) await slugs.claim(request.slug, articleId);
    const settings = { slug, ...toNewSettings(request) };
    const facts = { created: true, findings };
    const view =
      before === undefined
        ? await create(call, articleId, { articleId, workspaceId: article.workspaceId, mode, ...settings, by, content }, facts)
        : await send(call, before, { type: modeEvents[mode], content, settings, by }, facts);
    if (view === conflict) return conflict;
    note(call, "link.published", articleId, { mode, slug });
    return view;
  }

  async function create(call: Call, articleId: string, input: object, facts: ViewFacts): Promise<LinkView | typeof conflict> {
    try {
      const { value, revision } = await actors.create(publicLinkKind, articleId, input, toSendOptions(call, facts));
      return toView(value, revision, facts);
    } catch (reason) {
      if (reason instanceof AppError && reason.code === "already_exists") return conflict;
      throw reason;
    }
  }

  /** Lets a link expire whose timer is late, so that every change finds the state that its readers see. */
  async function expire({ value }: Stored<PublicLinkRecord>): Promise<typeof conflict> {
    try {
      await actors.send(publicLinkKind, value.id, { type: "expiry.due" }, { gather: gatherBy(value.context.publishedBy) });
    } catch (reason) {
      if (!(reason instanceof AppError && reason.code === "invalid_transition")) throw reason;
    }
    return conflict;
  }

  async function change(call: Call, articleId: string, request: LinkRequest, link: Stored<PublicLinkRecord>, mode: PublicLinkMode) {
    const { context, state } = link.value;
    if (isOverdue(link.value)) return expire(link);
    requireMatch(call, context.metaRevision ?? 0, "live");
    const wanted = request.mode ?? mode;
    const settings = toChangedSettings(request, context);
    if (wanted === mode && Object.keys(settings).length === 0) return toView(link.value, link.revision);
    const { value: article } = await readLiveArticle(storage, articleId);
    const setting = settings.gate ?? context.gate;
    const isRenewed = state === "expired" && "expiresAtMs" in settings;
    let event: Timeless<PublicLinkEvent> = { type: "link.change", settings };
    let findings: number | undefined;
    if (wanted !== mode || (isRenewed && wanted === "live")) {
      const gated = await freezeGated(article, setting);
      event = { type: modeEvents[wanted], content: gated.content, settings, by: call.principal?.username ?? "" };
      findings = gated.findings;
    } else if (isRenewed && context.content !== undefined) {
      // An expired Snapshot keeps its text, which is published again.
      const markdown = await freeze.markdown(articleId, context.content);
      if (markdown === undefined) return conflict;
      findings = await gate.check(setting ?? "off", markdown, article.workspaceId);
    }
    if (settings.slug !== undefined) await slugs.claim(settings.slug, articleId);
    const view = await send(call, link, event, { created: false, findings });
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
        requireFuture(request, storage.now());
        const link = await storage.records.get(publicLinkRecord, articleId);
        const mode = link === undefined ? undefined : modeOf(link.value);
        if (link === undefined || mode === undefined) return publish(call, articleId, request, link);
        return change(call, articleId, request, link, mode);
      }),

    update: (call, articleId, request) =>
      retryOnConflict("publicLink", async () => {
        const link = await requireLink(articleId);
        requireFuture(request, storage.now());
        return change(call, articleId, request, link, link.mode);
      }),

    refreshSnapshot: (call, articleId, { revision }) =>
      retryOnConflict("publicLink", async () => {
        const link = await requireLink(articleId);
        if (isOverdue(link.value)) return expire(link);
        if (link.mode !== "snapshot") throw wrongMode(link.mode, "snapshot");
        const { value: article } = await readLiveArticle(storage, articleId);
        const { content, findings } = await freezeGated(article, link.value.context.gate, revision);
        const view = await send(call, link, { type: "link.refresh", content }, { created: false, findings });
        if (view !== conflict) note(call, "link.refreshed", articleId, { revision: content.revision });
        return view;
      }),

    sync: (call, articleId) =>
      retryOnConflict("publicLink", async () => {
        const link = await requireLink(articleId);
        if (isOverdue(link.value)) return expire(link);
        if (link.mode !== "live") throw wrongMode(link.mode, "live");
        const status = syncStatusOf(link.value);
        if (status !== "retrying" && status !== "failed") return toView(link.value, link.revision);
        return send(call, link, { type: "link.sync" });
      }),

    diff: (_call, articleId, format = "unified") =>
      retryOnConflict("publicLink.diff", async () => {
        const { content, workspaceId } = (await requireLink(articleId)).value.context;
        const text = content === undefined ? undefined : await freeze.markdown(articleId, content);
        // A synchronization has replaced the text since the link was read.
        if (content === undefined || text === undefined) return conflict;
        return documents.diffFrom(articleId, { file: publicFile, revision: content.revision, text }, format, workspaceId);
      }),

    async unpublish(call, articleId) {
      await retryOnConflict("publicLink", async () => {
        const link = await requireLink(articleId);
        if (isOverdue(link.value)) return expire(link);
        requireMatch(call, link.value.context.metaRevision ?? 0, "live");
        const atRevision = call.ifMatch === undefined ? {} : { atRevision: link.revision };
        try {
          await actors.send(
            publicLinkKind,
            articleId,
            { type: "link.unpublish" },
            { gather: gatherFor(call), commit: (batch) => call.commit(batch), ...atRevision },
          );
        } catch (reason) {
          if (isOutdated(reason)) return conflict;
          throw reason;
        }
        note(call, "link.unpublished", articleId, { slug: link.value.context.slug });
        return undefined;
      });
    },
  };
}
