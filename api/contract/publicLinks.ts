import { z } from "zod";
import { ArticleDiff, DiffFormat, PublicLinkMode, PublicLinkState } from "../schema/article.ts";
import { pageQuery, unixSeconds } from "../schema/common.ts";
import { WorkspaceId } from "../schema/id.ts";
import { GateReport, ListedPublicLink, PublicationPeriod, PublicLink, PublicLinkRequest, SnapshotRequest } from "../schema/publicLink.ts";
import { operation } from "./operation.ts";
import { articleParams, inWorkspace, ofArticle, pageOf } from "./resource.ts";

/** Sent when the publish gate has checked the text. */
const gateHeaders = {
  "x-svc-gate-findings": "Number of findings in the text that was published: errors and warnings. Sent if `gate` is `warn` or `block`.",
} as const;

export const publicLinks = {
  get: operation({
    method: "GET",
    path: "/articles/{articleId}/public-link",
    params: articleParams,
    replies: { 200: PublicLink },
    replyHeaders: {
      etag: 'Entity tag `"r<record revision>-<changes>"`. `If-Match` compares only the second part, so that the synchronization of a Live page does not make a change fail.',
    },
    credential: "any",
    scopes: ["publishing:read"],
    resource: ofArticle,
    role: "read",
    errors: ["not_published"],
    summary: "Get the public link of an article",
    description:
      "The answer has the address, the mode, and the revision that the page shows. The answer is 404 `not_published` if the article is not public.",
  }),
  put: operation({
    method: "PUT",
    path: "/articles/{articleId}/public-link",
    params: articleParams,
    bodies: { "application/json": PublicLinkRequest },
    bodyOptional: true,
    replies: { 200: PublicLink, 201: PublicLink },
    replyHeaders: gateHeaders,
    credential: "any",
    scopes: ["publishing:write"],
    resource: ofArticle,
    role: "write",
    ifMatch: true,
    errors: ["name_taken", "gate_failed"],
    summary: "Make an article public (Live by default), or change its link",
    description:
      "The answer is 201 if the article was not public before. A Live page follows every later edit; a Snapshot keeps its text until it is refreshed. An expired page becomes public again only with a later `expiresAt`, or `null`. A request that publishes a text passes the `gate` first.",
    example: { mode: "live", slug: "how-a-draft-survives" },
  }),
  update: operation({
    method: "PATCH",
    path: "/articles/{articleId}/public-link",
    params: articleParams,
    bodies: { "application/json": PublicLinkRequest },
    replies: { 200: PublicLink },
    replyHeaders: gateHeaders,
    credential: "any",
    scopes: ["publishing:write"],
    resource: ofArticle,
    role: "write",
    ifMatch: true,
    errors: ["not_published", "name_taken", "gate_failed"],
    summary: "Change a public link: its mode, slug, expiry and gate",
    description:
      "Fields that are left out do not change. An earlier slug redirects to the new one until another page takes it. After `expiresAt` the page answers 410; a later `expiresAt`, or `null`, makes it public again. A request that publishes a text (a change of the mode, or of a page that has expired) passes the `gate` first.",
    example: { mode: "snapshot" },
  }),
  refreshSnapshot: operation({
    method: "POST",
    path: "/articles/{articleId}/public-link/snapshot",
    params: articleParams,
    bodies: { "application/json": SnapshotRequest },
    bodyOptional: true,
    replies: { 200: PublicLink },
    replyHeaders: gateHeaders,
    credential: "any",
    scopes: ["publishing:write"],
    resource: ofArticle,
    role: "write",
    errors: ["not_published", "public_link_wrong_mode", "revision_gone", "gate_failed"],
    summary: "Refresh the frozen content of a Snapshot",
    description: "The page then shows the newest text, or the given `revision`. A Live link answers 409 `public_link_wrong_mode`.",
    example: { revision: 42 },
  }),
  history: operation({
    method: "GET",
    path: "/articles/{articleId}/public-link/history",
    params: articleParams,
    query: z.strictObject({
      ...pageQuery,
      from: unixSeconds("Only periods that end after this time.").optional(),
      to: unixSeconds("Only periods that begin at this time or before.").optional(),
    }),
    replies: {
      200: pageOf("periods", PublicationPeriod, {
        id: "PublicationPeriodList",
        description: "A page of periods in which the article was public.",
        items: "Periods, newest first.",
      }),
    },
    credential: "any",
    scopes: ["publishing:read"],
    resource: ofArticle,
    role: "read",
    errors: ["not_published"],
    summary: "List which text was public when, newest first",
    description:
      "A period begins when the page shows another text or changes its mode, and ends when the next one begins or the page is unpublished. The periods are kept from the first publication on, until the article is deleted permanently. An article that was never public answers 404 `not_published`.",
  }),
  diff: operation({
    method: "GET",
    path: "/articles/{articleId}/public-link/diff",
    params: articleParams,
    query: z.strictObject({ format: DiffFormat.describe("Format of the hunks; `unified` by default.").optional() }),
    replies: { 200: ArticleDiff },
    credential: "any",
    scopes: ["publishing:read", "articles:read"],
    resource: ofArticle,
    role: "read",
    errors: ["not_published"],
    summary: "Compare the published text with the newest one",
    description:
      "`from` is the revision that the page shows, `to` the live one. The text of the page is kept with the link, so the comparison is possible at any age.",
  }),
  findings: operation({
    method: "GET",
    path: "/articles/{articleId}/public-link/findings",
    params: articleParams,
    replies: { 200: GateReport },
    credential: "any",
    scopes: ["publishing:read", "articles:read"],
    resource: ofArticle,
    role: "read",
    summary: "Check the newest text as the publish gate does",
    description:
      "The answer lists errors and warnings with their lines, whether or not the article is public and whatever its `gate` is. Nothing is published or refused. A busy server answers 503.",
  }),
  sync: operation({
    method: "POST",
    path: "/articles/{articleId}/public-link/sync",
    params: articleParams,
    replies: { 202: PublicLink },
    credential: "any",
    scopes: ["publishing:write"],
    resource: ofArticle,
    role: "write",
    errors: ["not_published", "public_link_wrong_mode"],
    summary: "Retry the synchronization of a Live link",
    description: "The operation starts a new attempt if `liveSync.status` is `retrying` or `failed`. Otherwise it changes nothing.",
  }),
  delete: operation({
    method: "DELETE",
    path: "/articles/{articleId}/public-link",
    params: articleParams,
    replies: { 204: null },
    credential: "any",
    scopes: ["publishing:write"],
    resource: ofArticle,
    role: "write",
    ifMatch: true,
    errors: ["not_published"],
    summary: "Unpublish",
    description: "The public page answers 410 from then on.",
  }),
  list: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/public-links",
    params: z.strictObject({ workspaceId: WorkspaceId }),
    query: z.strictObject({
      ...pageQuery,
      mode: PublicLinkMode.describe("Only links in this mode.").optional(),
      state: PublicLinkState.describe("Only links in this state.").optional(),
    }),
    replies: {
      200: pageOf("publicLinks", ListedPublicLink, {
        id: "PublicLinkList",
        description: "A page of public links.",
        items: "Public links with their titles, newest first.",
      }),
    },
    credential: "any",
    scopes: ["publishing:read"],
    resource: inWorkspace,
    role: "read",
    summary: "List the public links of a workspace",
    description:
      "The list contains the links of all public articles with the titles of their pages, newest first. Expired links are included.",
  }),
} as const;
