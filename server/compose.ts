/**
 * Compose creates every part of the server and passes each one its dependencies.
 *
 * It reads from top to bottom: the platform, then the domains, then the edge. No part uses a later one. A domain adds
 * its changes to the commits of articles with listeners, which need only the platform, so they exist before the
 * articles. `installManifests` registers what the domains and the edge add to the process.
 */
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { contract } from "../api/contract/contract.ts";
import type { FrameBroadcast } from "../realtime/ports.ts";
import type { Config } from "./config.ts";
import { createArticleEvents } from "./domain/articles/articleEvents.ts";
import { createLocateArticle } from "./domain/articles/locate.ts";
import { articleRecord } from "./domain/articles/records.ts";
import { createArticleService } from "./domain/articles/service.ts";
import { createPageTokens } from "./domain/call/pageToken.ts";
import { createPager } from "./domain/call/paging.ts";
import { createConverter } from "./domain/conversions/converter.ts";
import { conversionPairs } from "./domain/conversions/pairs.ts";
import { createConversionService } from "./domain/conversions/service.ts";
import { createTextRenderer } from "./domain/conversions/textRenderer.ts";
import { createLocateFolder } from "./domain/folders/locate.ts";
import { createFolderOperations } from "./domain/folders/operations.ts";
import { createFolders } from "./domain/folders/service.ts";
import { announceAccessFacts, createAccessWatch } from "./domain/identity/access/accessFacts.ts";
import type { Prepared } from "./domain/identity/accounts/installation.ts";
import { isStreamTicket } from "./domain/identity/auth/streamTickets.ts";
import { createIdentity } from "./domain/identity/service.ts";
import { createStartJob, defineJobKind } from "./domain/jobs/jobKind.ts";
import { createLocateJob } from "./domain/jobs/locate.ts";
import { createJobService } from "./domain/jobs/service.ts";
import { createPublishingListeners } from "./domain/publishing/listeners.ts";
import { createPublishing } from "./domain/publishing/service.ts";
import { createLocateReview } from "./domain/reviews/locate.ts";
import { reviewRecord } from "./domain/reviews/records.ts";
import { reviewPlace } from "./domain/reviews/searchSource.ts";
import { createReviewListeners, createReviewService } from "./domain/reviews/service.ts";
import { createReviewStreamEvents } from "./domain/reviews/streamEvents.ts";
import { defineRunKind } from "./domain/runs/engine/runKind.ts";
import { createConfiguredModel } from "./domain/runs/executors/configuredModel.ts";
import { createExecutors } from "./domain/runs/executors/executors.ts";
import { createRunListeners } from "./domain/runs/listeners.ts";
import { createLocateRun } from "./domain/runs/locate.ts";
import { createRunService } from "./domain/runs/service.ts";
import { recordSearchChanges } from "./domain/search/changeLog.ts";
import { createSearchService } from "./domain/search/service.ts";
import { createLocateTemplate } from "./domain/templates/locate.ts";
import { createTemplateService } from "./domain/templates/service.ts";
import { createFindTopicId } from "./domain/topics/findTopic.ts";
import { topicListeners } from "./domain/topics/listeners.ts";
import { topicRecord } from "./domain/topics/records.ts";
import { createTopicService } from "./domain/topics/service.ts";
import { createWebhookService } from "./domain/webhooks/service.ts";
import { type App, createApp } from "./edge/app.ts";
import { createNodeRateLimits, createRateLimits } from "./edge/calls/rateLimits.ts";
import { createCollabSocket } from "./edge/collab/collabSocket.ts";
import { createHandlers } from "./edge/handlers/handlers.ts";
import { createPageService } from "./edge/pages/service.ts";
import { createStreamService } from "./edge/streams/service.ts";
import { createTimelineReader } from "./edge/streams/timelineReader.ts";
import { builtWebFolder, createWebApp } from "./edge/webApp/service.ts";
import { createHousekeepingManifest, installManifests } from "./platform/composition/manifest.ts";
import { createParts } from "./platform/composition/parts.ts";
import { countStoreErrors } from "./platform/observability/countStoreErrors.ts";
import type { Metrics } from "./platform/observability/metrics.ts";
import { createOutbound } from "./platform/outbound/outbound.ts";
import type { Secrets } from "./platform/secrets.ts";
import type { Storage } from "./platform/storage/port.ts";
import { createRecordTypes } from "./platform/storage/recordType.ts";
import { observeConflicts } from "./platform/storage/retryOnConflict.ts";
import { recordTypes } from "./store.ts";

/** What a search finds depends on. Every commit that makes such a change records it for the index. */
const searchChanges = { records: [articleRecord, topicRecord, reviewRecord], dependencies: [reviewPlace] };

export interface ServiceOptions {
  readonly config: Config;
  readonly baseUrl: string;
  readonly storage: Storage;
  readonly secrets: Secrets;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  /** The host, which serves the topics of collaboration sockets. */
  readonly broadcast: FrameBroadcast;
  readonly isServing: () => boolean;
}

export interface Service {
  readonly app: App;
  /** Creates the first account or its setup link, then starts the access watch and the due pump. */
  start(): Promise<Prepared>;
  /** Closes sockets and waits for running work. Work that still runs when the signal aborts gives its lease back. */
  drain(signal: AbortSignal): Promise<void>;
}

export async function composeService(options: ServiceOptions): Promise<Service> {
  const { config, baseUrl, secrets, log, metrics, version, isServing } = options;
  const stopObservingConflicts = observeConflicts(metrics.conflictMet);
  const { limits, leaseMs, corsOrigins, proxyHops, checkpointQuietMs, checkpointMaxMs } = config;

  // Platform: what every domain may use.
  const platform = createParts({
    storage: recordSearchChanges(announceAccessFacts(countStoreErrors(options.storage, metrics)), searchChanges, log),
    log,
    leaseMs,
    // No other process writes due rows, and those that are not announced are not urgent: expired records and blobs.
    ...(options.storage.isShared ? {} : { idlePollMs: 2000 }),
    observe: { lag: metrics.dueLag, attempt: (kind, _effect, outcome) => metrics.effectAttempt(kind, outcome) },
  });
  const { storage, pump } = platform;
  const access = createAccessWatch({ ...platform, polls: storage.isShared });
  const parts = {
    ...platform,
    nodeId: randomUUID(),
    limits,
    secrets,
    baseUrl,
    articleEvents: createArticleEvents({ storage, limits }),
    pager: createPager({ storage, pageKey: secrets.pageKey, limits }),
    pageTokens: createPageTokens(secrets.pageKey),
  };
  const outbound = createOutbound({ limits, allowCidrs: config.outboundAllowCidrs });
  const types = createRecordTypes(recordTypes);

  // Domains.
  const identity = await createIdentity({
    ...parts,
    locators: {
      article: createLocateArticle(parts),
      folder: createLocateFolder(parts),
      job: createLocateJob(parts),
      review: createLocateReview(parts),
      run: createLocateRun(parts),
      template: createLocateTemplate(parts),
    },
  });
  const webhooks = createWebhookService({
    ...parts,
    ...outbound,
    scheduleMs: config.webhookRetryScheduleMs,
    autoDisable: config.webhookAutoDisable,
    observe: { attempt: metrics.webhookAttempt },
  });
  const runKind = defineRunKind({ keepEventsMs: limits["keep.events"] });
  const publishingListeners = createPublishingListeners(parts);
  const templates = createTemplateService(parts);
  const folderReader = createFolders(parts);
  const articles = createArticleService({
    ...parts,
    checkpointQuietMs,
    checkpointMaxMs,
    metrics,
    broadcast: options.broadcast,
    findTopicId: createFindTopicId(parts),
    folders: folderReader,
    fillTemplate: templates.fill,
    armAtEdit: publishingListeners.armAtEdit,
    listeners: [
      webhooks.listeners,
      topicListeners,
      publishingListeners,
      createRunListeners({ ...parts, kind: runKind }),
      createReviewListeners(parts),
    ],
  });
  const jobKind = defineJobKind(limits);
  const startJob = createStartJob(jobKind);
  const reviews = createReviewService({
    ...parts,
    rooms: articles.rooms,
    documents: articles.documents,
    articles: articles.writer,
    writing: articles.writing,
    duplicateArticle: articles.articles.duplicate,
    startJob,
    findAccount: identity.findAccount,
    listeners: [webhooks.reviewListeners, createReviewStreamEvents(parts)],
  });
  const model = await createConfiguredModel({ ...parts, outbound, settings: config.model });
  const steps = createExecutors(model);
  const publishing = createPublishing({ ...parts, access, documents: articles.documents, checkText: steps.checkText });
  const topics = createTopicService({ ...parts, articles: articles.writer });
  const runs = createRunService({
    ...parts,
    kind: runKind,
    topics: topics.port,
    folders: topics.folders,
    articles: articles.writer,
    edits: articles.edits,
    rooms: articles.rooms,
    writing: articles.writing,
    documents: articles.documents,
    executors: steps.executors,
    timeline: createTimelineReader(parts),
  });
  const folders = createFolderOperations({
    ...parts,
    articles: articles.folderArticles,
    topics: runs.folderTopics,
    startJob,
  });
  const jobs = createJobService({ ...parts, kind: jobKind, works: [...folders.works, ...reviews.works] });
  const conversions = createConversionService({
    ...parts,
    access: identity.accessResolver,
    documents: articles.documents,
    articles: articles.writer,
    imports: articles.imports,
    writing: articles.writing,
    folders: folderReader,
    outbound,
    converter: createConverter(parts),
    pairs: conversionPairs,
  });
  const textRenderer = createTextRenderer(parts);
  const search = createSearchService({
    ...parts,
    sources: [articles.searchSource, topics.searchSource, reviews.searchSource],
    recorded: searchChanges,
    directory: config.searchDir,
  });

  // Edge: how requests, sockets and streams reach the domains.
  const gate = {
    ...parts,
    authenticator: identity.authenticator,
    access: identity.accessResolver,
    accessWatch: access,
    rateLimits: createRateLimits(parts, "rate.connects"),
    corsOrigins,
    proxyHops,
  };
  const collab = createCollabSocket({
    ...gate,
    rooms: articles.rooms,
    tickets: { isTicket: isStreamTicket, verify: identity.tickets.verify },
  });
  const streams = createStreamService({
    ...gate,
    topics: topics.port,
    activity: articles.activity,
    tickets: identity.tickets,
    pages: publishing.pages,
    pageLimits: createNodeRateLimits(parts, "rate.connects"),
  });
  const pages = createPageService({
    ...gate,
    pages: publishing.pages,
    pageLimits: createNodeRateLimits(parts, "rate.public"),
    jwks: identity.jwks,
    isServing,
    metrics,
    deviations: config.deviations,
    operatorToken: config.operatorToken,
    searchProgress: search.progress,
    version,
  });
  const webApp = createWebApp({ folder: builtWebFolder, log });
  const app = createApp({
    ...gate,
    node: parts.nodeId,
    contract,
    handlers: {
      ...createHandlers({ identity, folders, articles, templates, reviews, publishing, conversions, textRenderer, topics, runs, search }),
      webhooks: webhooks.webhooks,
      jobs: jobs.jobs,
    },
    routes: [...pages.routes, ...webApp.routes],
    servedRoutes: (calls) => [...streams.routes(calls), ...pages.publicRoutes(calls)],
    upgrade: collab.upgrade,
    onAnswered({ operation, status, ms, requestId, credentialId }) {
      metrics.callAnswered(operation, status, ms);
      log.info({ requestId, op: operation, status, ms: Math.round(ms * 1000) / 1000, credentialId }, "request");
    },
  });
  metrics.watch({
    sockets: () => ({ collab: articles.rooms.stats().connections, stream: streams.stats().open }),
    rooms: () => articles.rooms.stats().rooms,
    bodyBytes: app.bodyBytesInFlight,
    runs: runs.runs.count,
    search: search.progress,
  });

  const installed = installManifests(
    [
      createHousekeepingManifest(storage, types),
      ...[identity, webhooks, articles, reviews, publishing, topics, runs, jobs, conversions, search, streams, pages].map(
        ({ manifest }) => manifest,
      ),
      { name: "executors", close: steps.close },
      { name: "model", close: model.close },
      { name: "textRenderer", close: textRenderer.close },
    ],
    { ...parts, recordTypes: types },
  );

  return {
    app,
    async start() {
      const prepared = await identity.prepare(config.firstAccount);
      access.start();
      // Access facts must not be missed: no client is admitted before the watch has a cursor in every log.
      await access.ready();
      pump.start();
      search.start();
      return prepared;
    },
    async drain(signal) {
      streams.close();
      conversions.stopWaiting();
      await articles.rooms.drain();
      await pump.drain(signal);
      collab.stop();
      access.stop();
      stopObservingConflicts();
      await installed.close();
    },
  };
}
