/** Creates reviews as a server has them: articles, actors, due pump and listeners, on a store with a manual clock. */
import { createStartJob, defineJobKind } from "../../server/domain/jobs/jobKind.ts";
import { createJobService } from "../../server/domain/jobs/service.ts";
import type { ReviewCreated, ReviewReplied, ReviewResolved } from "../../server/domain/reviews/port.ts";
import { createReviewListeners, createReviewService } from "../../server/domain/reviews/service.ts";
import type { UnitOfWork } from "../../server/platform/actors/port.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { composeParts, defaultLeaseMs } from "../support/composeParts.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { type ArticleNodeOptions, composeArticles } from "./articleFixture.ts";

/** The account of `createCall`, and one that is no member of any workspace. */
const accounts = new Map([
  ["ada", { accountId: "usr_0000000000000000000000000A", username: "ada", disabled: false }],
  ["bo", { accountId: "usr_0000000000000000000000000B", username: "bo", disabled: false }],
]);

export interface ReviewEvents {
  readonly created: ReviewCreated[];
  readonly replied: ReviewReplied[];
  readonly resolved: ReviewResolved[];
}

export function createReviewNode(storage: Storage, time: Pick<ManualTime, "now" | "after">, options: ArticleNodeOptions = {}) {
  const { limits, nodeId, leaseMs = defaultLeaseMs } = options;
  const parts = composeParts(storage, { after: time.after, limits, nodeId, leaseMs });
  const node = composeArticles(parts, { ...options, listeners: createReviewListeners(parts) });
  const events: ReviewEvents = { created: [], replied: [], resolved: [] };
  const note =
    <Event>(list: Event[]) =>
    async (unit: UnitOfWork, event: Event) =>
      unit.afterCommit(() => void list.push(event));
  const jobKind = defineJobKind(parts.limits);
  const service = createReviewService({
    ...parts,
    rooms: node.rooms,
    documents: node.documents,
    articles: node.writer,
    writing: node.writing,
    duplicateArticle: node.articles.duplicate,
    startJob: createStartJob(jobKind),
    findAccount: async (username) => accounts.get(username),
    listeners: [{ reviewCreated: note(events.created), reviewReplied: note(events.replied), reviewResolved: note(events.resolved) }],
  });
  const jobs = createJobService({ storage: parts.storage, kind: jobKind, works: service.works });
  parts.install([service.manifest, jobs.manifest]);
  return { ...node, ...service, reviewEvents: events, actors: parts.actors, closeReviews: async () => service.manifest.close?.() };
}

export type ReviewNode = ReturnType<typeof createReviewNode>;
