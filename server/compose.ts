/**
 * The composition: every part with what it depends on, in the order in which they need each other. The only file of
 * the server that names the store and the host; everything else knows their ports.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { contract } from "../api/contract/contract.ts";
import { createRooms } from "../realtime/rooms.ts";
import { createAccountRegistry } from "./accounts/accountRegistry.ts";
import type { Prepared } from "./accounts/installation.ts";
import { createPasswordReset } from "./accounts/passwordReset.ts";
import { accountRecordTypes } from "./accounts/records.ts";
import { after } from "./actors/after.ts";
import { createDuePump } from "./actors/due.ts";
import type { DueWorker } from "./actors/port.ts";
import { createActorRuntime } from "./actors/runtime.ts";
import { joinParts } from "./actors/together.ts";
import { createApp } from "./app.ts";
import { articleRecordTypes } from "./articles/records.ts";
import { createArticleService, createDocumentStore } from "./articles/service.ts";
import { createAccessWatch } from "./auth/accessFacts.ts";
import { authActorKinds } from "./auth/apiKeyKind.ts";
import { authRecordTypes } from "./auth/records.ts";
import type { Secrets } from "./auth/secrets.ts";
import { isStreamTicket } from "./auth/streamTickets.ts";
import { createPageTokens } from "./calls/pageToken.ts";
import { createPager } from "./calls/paging.ts";
import { createRateLimits } from "./calls/rateLimits.ts";
import { callRecordTypes } from "./calls/records.ts";
import { createCollabSocket } from "./collab/collabSocket.ts";
import type { Config } from "./config.ts";
import { folderRecordTypes } from "./folders/records.ts";
import { createArticleHandlers } from "./handlers/articles.ts";
import { createCommitHandlers } from "./handlers/commits.ts";
import { createContentHandlers } from "./handlers/content.ts";
import { createPublicLinkHandlers } from "./handlers/publicLinks.ts";
import { createRunHandlers } from "./handlers/runs.ts";
import { createTopicHandlers } from "./handlers/topics.ts";
import { createWebhookHandlers } from "./handlers/webhooks.ts";
import { createWorkflowHandlers } from "./handlers/workflows.ts";
import { CannotListen, type Host, type HostApp } from "./host/port.ts";
import { createIdentity } from "./identity.ts";
import { createIds } from "./ids.ts";
import type { Metrics } from "./observability/metrics.ts";
import { createProbeRoutes } from "./observability/probes.ts";
import { createOutboundFetch } from "./outbound/fetch.ts";
import { createProviderFetch } from "./outbound/providerFetch.ts";
import { createPublicAddresses } from "./outbound/publicAddress.ts";
import { createCheckPublicUrl } from "./outbound/publicUrl.ts";
import { createResolve } from "./outbound/resolver.ts";
import { createPublicPageRoutes } from "./pages/publicPage.ts";
import { createWelcomeRoutes } from "./pages/welcome.ts";
import { createPublishing } from "./publishing/publishing.ts";
import { publishingRecordTypes } from "./publishing/records.ts";
import { createExecutors } from "./runs/executors/executors.ts";
import { createModel } from "./runs/executors/model.ts";
import { runRecordTypes } from "./runs/records.ts";
import { createRunService } from "./runs/service.ts";
import { createDirectory, directoryRow } from "./storage/directory.ts";
import { createHousekeeping, housekeepingKinds } from "./storage/housekeeping.ts";
import { createLmdbStorage } from "./storage/lmdb.ts";
import { isLmdbWriteRejection } from "./storage/lmdbDatabase.ts";
import type { Storage } from "./storage/port.ts";
import { type AnyRecordType, createRecordTypes } from "./storage/recordType.ts";
import { createRedisStorage } from "./storage/redis.ts";
import { describeRedis } from "./storage/storeAddress.ts";
import { isMarked } from "./storage/storeMark.ts";
import { createStreamService } from "./streams/service.ts";
import { createTimelineReader } from "./streams/timelineReader.ts";
import { topicRecordTypes } from "./topics/records.ts";
import { createTopicService } from "./topics/service.ts";
import { createWebhookCleanup } from "./webhooks/cleanup.ts";
import { createWebhookActorKinds } from "./webhooks/deliver.ts";
import { createEnqueue } from "./webhooks/enqueue.ts";
import { webhookRecordTypes } from "./webhooks/records.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";
import { workspaceRecordTypes } from "./workspaces/records.ts";

const recordTypes = [
  directoryRow,
  ...callRecordTypes,
  ...accountRecordTypes,
  ...authRecordTypes,
  ...workspaceRecordTypes,
  ...articleRecordTypes,
  ...webhookRecordTypes,
  ...publishingRecordTypes,
  ...folderRecordTypes,
  ...topicRecordTypes,
  ...runRecordTypes,
] as readonly AnyRecordType[];

/** `onDiskError`: the store can no longer be trusted, and the process must end. */
export function openStorage(
  { redis, dataDir, diskReserveMiB }: Pick<Config, "redis" | "dataDir" | "diskReserveMiB">,
  onDiskError: (error: Error) => void,
): Promise<Storage> {
  if (redis !== undefined) return createRedisStorage({ ...redis, recordTypes, onLost: onDiskError });
  return createLmdbStorage({ directory: dataDir, diskReserveMiB, recordTypes, onDiskError });
}

/** For people: where what is stored is. */
export function describeStore({ redis, dataDir }: Pick<Config, "redis" | "dataDir">): string {
  return redis === undefined ? dataDir : describeRedis(redis.address);
}

/** Something was stored in this directory before. A store elsewhere shows only when it is opened. */
export function hasStore({ redis, dataDir }: Pick<Config, "redis" | "dataDir">): boolean {
  return redis !== undefined || existsSync(join(dataDir, "store")) || isMarked(dataDir);
}

/** For a store on which no server runs. */
export function composePasswordReset({ config, storage, baseUrl, log }: Pick<ServiceOptions, "config" | "storage" | "baseUrl" | "log">) {
  const registry = createAccountRegistry({ storage, directory: createDirectory(storage), access: createAccessWatch({ storage, log }) });
  return createPasswordReset({ storage, registry, baseUrl, lifetimeMs: config.limits["keep.setupLink"], log });
}

/** A rejection that the store leaves unhandled after it has told everybody concerned: nothing is lost by ignoring it. */
export const isRejectionOfStore = isLmdbWriteRejection;

/** uWebSockets.js, or `node:http` where no binary of it fits. Throws `CannotListen`. */
export async function startFittingHost(app: HostApp, config: Pick<Config, "host" | "port" | "limits">, log: Logger): Promise<Host> {
  const options = {
    host: config.host,
    port: config.port,
    maxFrameBytes: config.limits["frame.bytes"],
    // A whole document must fit beside what a slow reader may owe.
    maxBufferedBytes: config.limits["socket.buffer"] + config.limits["document.bytes"],
    onError: (err: unknown) => log.error({ err }, "a connection failed on a bug"),
  };
  try {
    const { startUwsHost } = await import("./host/uws.ts");
    return await startUwsHost(app, options);
  } catch (reason) {
    if (reason instanceof CannotListen) throw reason;
    log.warn(
      { reason: (reason as Error).message },
      `uWebSockets.js has no binary for Node ${process.versions.node} on ${process.platform} ${process.arch}: the slower host on node:http serves instead`,
    );
    const { startNodeHost } = await import("./host/node.ts");
    return startNodeHost(app, options);
  }
}

export interface ServiceOptions {
  readonly config: Config;
  readonly baseUrl: string;
  readonly storage: Storage;
  readonly secrets: Secrets;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  readonly isServing: () => boolean;
}

export interface Service {
  readonly app: HostApp;
  /** Makes the first account or the link to it, and begins to work off what is due. */
  start(): Promise<Prepared>;
  /** Closes sockets, ends what is under way; what cannot end until the signal aborts is given back. */
  drain(signal: AbortSignal): Promise<void>;
}

export async function composeService(options: ServiceOptions): Promise<Service> {
  const { config, baseUrl, secrets, log, metrics } = options;
  const { limits, leaseMs } = config;
  const storage = countStoreErrors(options.storage, metrics);
  const nodeId = randomUUID();
  const ids = createIds(storage);
  const pager = createPager({ storage, pageKey: secrets.pageKey, limits });
  const rateLimits = createRateLimits({ storage, limits });
  const directory = createDirectory(storage);
  const access = createAccessWatch({ storage, log });
  const pump = createDuePump({ storage, log, leaseMs, observe: { lag: metrics.dueLag } });
  const actors = createActorRuntime({
    storage,
    pump,
    log,
    leaseMs,
    observe: { attempt: (kind, _effect, outcome) => metrics.effectAttempt(kind, outcome) },
  });

  const identity = await createIdentity({
    storage,
    actors,
    secrets,
    limits,
    log,
    baseUrl,
    leaseMs,
    ids,
    pager,
    directory,
    access,
    locateArticle: (articleId, where) => articleService.articles.locate(articleId, where),
    locateRun: (runId) => runService.runs.locate(runId),
  });

  const addresses = createPublicAddresses(config.outboundAllowCidrs);
  const resolve = createResolve();
  const checkUrl = createCheckPublicUrl({
    addresses,
    resolve,
    maxLength: limits["webhook.url"],
    resolveTimeoutMs: limits["webhook.connectMs"],
  });
  const { deliveryKind, endpointKind } = createWebhookActorKinds({
    storage,
    actors,
    fetch: createOutboundFetch({ checkUrl }),
    secrets,
    limits,
    log,
    scheduleMs: config.webhookRetryScheduleMs,
    autoDisable: config.webhookAutoDisable,
    observe: { attempt: metrics.webhookAttempt },
  });
  const { enqueue } = createEnqueue({ storage, actors, deliveryKind, limits });
  const webhooks = createWebhooks({ storage, actors, endpointKind, pump, checkUrl, secrets, pager, log });

  const documents = createDocumentStore({
    storage,
    nodeId,
    limits,
    checkpointQuietMs: config.checkpointQuietMs,
    armAtEdit: (article, nowMs) => publishing.armAtEdit(article, nowMs),
  });
  const clock = { now: storage.now, after };
  const rooms = createRooms({
    updateLog: documents.updateLog,
    bus: {
      publish: (articleId, message) => storage.bus.publish(`room/${articleId}`, message),
      subscribe: (articleId, listener) => storage.bus.subscribe(`room/${articleId}`, listener),
    },
    clock,
    limits,
    nodeId,
    metrics,
    log,
  });
  const collab = createCollabSocket({
    rooms,
    authenticator: identity.authenticator,
    tickets: { isTicket: isStreamTicket, verify: identity.tickets.verify },
    access: identity.accessResolver,
    accessWatch: access,
    rateLimits,
    limits,
    clock,
    baseUrl,
    corsOrigins: config.corsOrigins,
    log,
  });
  metrics.watch({
    sockets: () => ({ collab: rooms.stats().connections, stream: liveStreams.stats().open }),
    rooms: () => rooms.stats().rooms,
    runs: () => runService.runs.count(),
  });
  const articleService = createArticleService({
    storage,
    documents,
    rooms,
    access,
    pager,
    ids,
    baseUrl,
    limits,
    nodeId,
    checkpointQuietMs: config.checkpointQuietMs,
    checkpointMaxMs: config.checkpointMaxMs,
    wake: pump.wake,
    listeners: {
      articleUpdated: (event) => enqueue({ event: "article.updated", ...event }),
      articleCommitted: (event) => topicService.articleCommitted(event),
      articleDeleted: async (article) =>
        joinParts([await publishing.articleDeleted(article), await runService.runs.articleDeleted(article)]),
      articleRemoved: (article) => topicService.articleRemoved(article),
    },
  });

  const publishing = createPublishing({
    storage,
    actors,
    directory,
    documents: articleService.documents,
    access,
    pager,
    baseUrl,
    wake: pump.wake,
    log,
  });
  const topicService = createTopicService({ storage, actors, articles: articleService.writer, pager, limits });
  const modelFetch =
    config.model === undefined
      ? undefined
      : createProviderFetch({
          baseUrl: config.model.baseUrl,
          addresses,
          resolve,
          connectMs: limits["webhook.connectMs"],
          quietMs: limits["model.quietMs"],
          maxBytes: limits["model.answer"],
          maxLineBytes: limits["model.line"],
        });
  const model =
    config.model === undefined || modelFetch === undefined
      ? undefined
      : createModel({
          ...config.model,
          fetch: modelFetch.fetch,
          totalMs: limits["model.totalMs"],
          maxTextBytes: limits["run.stepOutput"],
          after,
          log,
        });
  const steps = createExecutors({ model });
  const runService = createRunService({
    storage,
    actors,
    topics: topicService.port,
    folders: topicService.folders,
    articles: articleService.writer,
    edits: articleService.edits,
    rooms,
    writing: articleService.writing,
    documents: articleService.documents,
    executors: steps.executors,
    timeline: createTimelineReader({ storage }),
    pager,
    pageTokens: createPageTokens(secrets.pageKey),
    ids,
    limits,
    log,
  });
  const liveStreams = createStreamService({
    storage,
    topics: topicService.port,
    authenticator: identity.authenticator,
    tickets: identity.tickets,
    access: identity.accessResolver,
    accessWatch: access,
    rateLimits,
    limits,
    clock,
  });
  const publicPages = createPublicPageRoutes({
    pages: publishing.pages,
    rates: rateLimits,
    proxyHops: config.proxyHops,
  });

  actors.register([
    ...authActorKinds,
    deliveryKind,
    endpointKind,
    ...publishing.actorKinds,
    ...topicService.actorKinds,
    ...runService.actorKinds,
  ]);
  const housekeeping = createHousekeeping(storage, createRecordTypes(recordTypes));
  const workers: Readonly<Record<string, DueWorker>> = {
    ...Object.fromEntries(housekeepingKinds.map((kind) => [kind, housekeeping])),
    ...identity.workers,
    ...articleService.workers,
    ...createWebhookCleanup({ storage, actors, deliveryKind }),
    ...publishing.workers,
    ...liveStreams.workers,
  };
  for (const [kind, worker] of Object.entries(workers)) pump.register(kind, worker);

  const app = createApp({
    contract,
    handlers: {
      ...identity.handlers,
      articles: createArticleHandlers(articleService.articles),
      content: createContentHandlers(articleService),
      commits: createCommitHandlers(articleService),
      webhooks: createWebhookHandlers({ webhooks }),
      publicLinks: createPublicLinkHandlers({ links: publishing.links }),
      topics: createTopicHandlers({ topics: topicService.topics, topicRuns: runService.topicRuns }),
      workflows: createWorkflowHandlers(runService),
      runs: createRunHandlers(runService),
    },
    authenticator: identity.authenticator,
    access: identity.accessResolver,
    storage,
    limits,
    log,
    baseUrl,
    node: nodeId,
    leaseMs,
    corsOrigins: config.corsOrigins,
    proxyHops: config.proxyHops,
    routes: [
      ...identity.routes,
      ...publicPages.routes,
      ...createWelcomeRoutes({ hasAccount: identity.hasAccount, version: options.version }),
      ...createProbeRoutes({
        storage,
        isServing: options.isServing,
        metrics,
        deviations: config.deviations,
        operatorToken: config.operatorToken,
        version: options.version,
      }),
    ],
    streams: liveStreams.routes,
    upgrade: collab.upgrade,
    onAnswered({ operation, status, ms, requestId, credentialId }) {
      metrics.callAnswered(operation, status, ms);
      log.info({ requestId, op: operation, status, ms: Math.round(ms * 1000) / 1000, credentialId }, "request");
    },
  });

  return {
    app,
    async start() {
      const prepared = await identity.prepare(config.firstAccount);
      access.start();
      // Facts of the first moments must not be missed: nobody is let in before the watch has its place in every log.
      await access.ready();
      pump.start();
      return prepared;
    },
    async drain(signal) {
      liveStreams.close();
      await rooms.drain();
      await pump.drain(signal);
      collab.stop();
      access.stop();
      await identity.settled();
      await Promise.all([articleService.close(), publicPages.close(), steps.close(), modelFetch?.close()]);
    },
  };
}

/** The same store; writes that it refuses or cannot do are counted. */
function countStoreErrors(storage: Storage, metrics: Pick<Metrics, "storeError">): Storage {
  return {
    ...storage,
    commit: (batch) =>
      storage.commit(batch).catch((reason: unknown) => {
        metrics.storeError();
        throw reason;
      }),
  };
}
