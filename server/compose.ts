/**
 * Compose creates every part of the server and passes each one its dependencies.
 *
 * The parts are created in dependency order. This is the only file that names the concrete stores (LMDB, Redis) and
 * hosts (uWebSockets.js, node:http). All other files depend on their ports.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { contract } from "../api/contract/contract.ts";
import { createRooms } from "../realtime/room/rooms.ts";
import type { Config } from "./config.ts";
import { articleRecordTypes } from "./domain/articles/records.ts";
import { createArticleService, createDocumentStore } from "./domain/articles/service.ts";
import { createPageTokens } from "./domain/call/pageToken.ts";
import { createPager } from "./domain/call/paging.ts";
import { folderRecordTypes } from "./domain/folders/records.ts";
import { createAccessWatch } from "./domain/identity/access/accessFacts.ts";
import { authRecordTypes } from "./domain/identity/access/credentialRecords.ts";
import type { Prepared } from "./domain/identity/accounts/installation.ts";
import { createPasswordReset } from "./domain/identity/accounts/passwordReset.ts";
import { authActorKinds } from "./domain/identity/auth/apiKeyKind.ts";
import { isStreamTicket } from "./domain/identity/auth/streamTickets.ts";
import { accountRecordTypes } from "./domain/identity/registry/accountRecords.ts";
import { createAccountRegistry } from "./domain/identity/registry/accountRegistry.ts";
import { createIdentity } from "./domain/identity/service.ts";
import { workspaceRecordTypes } from "./domain/identity/workspaces/records.ts";
import { createPublishing } from "./domain/publishing/publishing.ts";
import { publishingRecordTypes } from "./domain/publishing/records.ts";
import { createExecutors } from "./domain/runs/executors/executors.ts";
import { createModel } from "./domain/runs/executors/model.ts";
import { runRecordTypes } from "./domain/runs/model/records.ts";
import { createRunService } from "./domain/runs/service.ts";
import { topicRecordTypes } from "./domain/topics/records.ts";
import { createTopicService } from "./domain/topics/service.ts";
import { createWebhookCleanup } from "./domain/webhooks/cleanup.ts";
import { createWebhookActorKinds } from "./domain/webhooks/deliver.ts";
import { createEnqueue } from "./domain/webhooks/enqueue.ts";
import { webhookRecordTypes } from "./domain/webhooks/records.ts";
import { createWebhooks } from "./domain/webhooks/webhooks.ts";
import { createApp } from "./edge/app.ts";
import { createRateLimits } from "./edge/calls/rateLimits.ts";
import { callRecordTypes } from "./edge/calls/records.ts";
import { createCollabSocket } from "./edge/collab/collabSocket.ts";
import { createAccountHandlers } from "./edge/handlers/accounts.ts";
import { createArticleHandlers } from "./edge/handlers/articles.ts";
import { createAuthHandlers } from "./edge/handlers/auth.ts";
import { createCommitHandlers } from "./edge/handlers/commits.ts";
import { createContentHandlers } from "./edge/handlers/content.ts";
import { createKeyHandlers } from "./edge/handlers/keys.ts";
import { createMemberHandlers } from "./edge/handlers/members.ts";
import { createPublicLinkHandlers } from "./edge/handlers/publicLinks.ts";
import { createRunHandlers } from "./edge/handlers/runs.ts";
import { createTopicHandlers } from "./edge/handlers/topics.ts";
import { createWorkflowHandlers } from "./edge/handlers/workflows.ts";
import { createWorkspaceHandlers } from "./edge/handlers/workspaces.ts";
import type { Host, HostApp } from "./edge/host/port.ts";
import { createProbeRoutes } from "./edge/pages/probes.ts";
import { createPublicPageRoutes } from "./edge/pages/publicPage.ts";
import { setupRoutes } from "./edge/pages/setup.ts";
import { createWelcomeRoutes } from "./edge/pages/welcome.ts";
import { createWellKnownRoutes } from "./edge/pages/wellKnown.ts";
import { createStreamService } from "./edge/streams/service.ts";
import { createTimelineReader } from "./edge/streams/timelineReader.ts";
import { after } from "./platform/actors/after.ts";
import { createDuePump } from "./platform/actors/due.ts";
import type { DueWorker } from "./platform/actors/duePort.ts";
import { createActorRuntime } from "./platform/actors/runtime.ts";
import { CannotListen } from "./platform/exit.ts";
import type { Metrics } from "./platform/observability/metrics.ts";
import { createOutboundFetch } from "./platform/outbound/fetch.ts";
import { createProviderFetch } from "./platform/outbound/providerFetch.ts";
import { createPublicAddresses } from "./platform/outbound/publicAddress.ts";
import { createCheckPublicUrl } from "./platform/outbound/publicUrl.ts";
import { createResolve } from "./platform/outbound/resolver.ts";
import type { Secrets } from "./platform/secrets.ts";
import { createDirectory, directoryRow } from "./platform/storage/directory.ts";
import { createHousekeeping, housekeepingKinds } from "./platform/storage/housekeeping.ts";
import { createIds } from "./platform/storage/ids.ts";
import { isLmdbWriteRejection } from "./platform/storage/lmdb/database.ts";
import { createLmdbStorage } from "./platform/storage/lmdb/lmdbStorage.ts";
import type { Storage } from "./platform/storage/port.ts";
import { type AnyRecordType, createRecordTypes } from "./platform/storage/recordType.ts";
import { createRedisStorage } from "./platform/storage/redis/redisStorage.ts";
import { observeConflicts } from "./platform/storage/retryOnConflict.ts";
import { describeRedis } from "./platform/storage/storeAddress.ts";
import { isMarked } from "./platform/storage/storeMark.ts";

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

/** Opens Redis if it is configured, otherwise LMDB. After `onDiskError` the store is unusable and the process must end. */
export function openStorage(
  { redis, dataDir, diskReserveMiB }: Pick<Config, "redis" | "dataDir" | "diskReserveMiB">,
  onDiskError: (error: Error) => void,
): Promise<Storage> {
  if (redis !== undefined) return createRedisStorage({ ...redis, recordTypes, onLost: onDiskError });
  return createLmdbStorage({ directory: dataDir, diskReserveMiB, recordTypes, onDiskError });
}

/** Returns the location of the store for messages: the data directory or the Redis address. */
export function describeStore({ redis, dataDir }: Pick<Config, "redis" | "dataDir">): string {
  return redis === undefined ? dataDir : describeRedis(redis.address);
}

/** True if the data directory holds a store. Always true with Redis, because only opening Redis shows what it holds. */
export function hasStore({ redis, dataDir }: Pick<Config, "redis" | "dataDir">): boolean {
  return redis !== undefined || existsSync(join(dataDir, "store")) || isMarked(dataDir);
}

/** Creates the parts that a password reset needs. No server may run on this store. */
export function composePasswordReset({ config, storage, baseUrl, log }: Pick<ServiceOptions, "config" | "storage" | "baseUrl" | "log">) {
  const registry = createAccountRegistry({ storage, directory: createDirectory(storage), access: createAccessWatch({ storage, log }) });
  return createPasswordReset({ storage, registry, baseUrl, lifetimeMs: config.limits["keep.setupLink"], log });
}

/** True for an unhandled rejection that the store causes after it has rejected the affected writes. It is safe to ignore. */
export const isRejectionOfStore = isLmdbWriteRejection;

/** Starts the uWebSockets.js host, or the `node:http` host if uWebSockets.js has no binary here. Throws `CannotListen`. */
export async function startFittingHost(app: HostApp, config: Pick<Config, "host" | "port" | "limits">, log: Logger): Promise<Host> {
  const options = {
    host: config.host,
    port: config.port,
    maxFrameBytes: config.limits["frame.bytes"],
    // A whole document must fit into the send buffer of a slow reader in addition to `socket.buffer`.
    maxBufferedBytes: config.limits["socket.buffer"] + config.limits["document.bytes"],
    onError: (err: unknown) => log.error({ err }, "connection handler failed with an unexpected error"),
  };
  try {
    const { startUwsHost } = await import("./edge/host/uws.ts");
    return await startUwsHost(app, options);
  } catch (reason) {
    if (reason instanceof CannotListen) throw reason;
    log.warn(
      { reason: (reason as Error).message },
      `uWebSockets.js has no binary for Node ${process.versions.node} on ${process.platform} ${process.arch}: the server uses the slower node:http host instead`,
    );
    const { startNodeHost } = await import("./edge/host/node.ts");
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
  /** Creates the first account or its setup link, then starts the access watch and the due pump. */
  start(): Promise<Prepared>;
  /** Closes sockets and waits for running work. Work that still runs when the signal aborts gives its lease back. */
  drain(signal: AbortSignal): Promise<void>;
}

export async function composeService(options: ServiceOptions): Promise<Service> {
  const { config, baseUrl, secrets, log, metrics } = options;
  const { limits, leaseMs } = config;
  const storage = countStoreErrors(options.storage, metrics);
  const stopObservingConflicts = observeConflicts(metrics.conflictMet);
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
  const { enqueue } = createEnqueue({ storage, deliveryKind, limits });
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
    proxyHops: config.proxyHops,
    log,
  });
  metrics.watch({
    sockets: () => ({ collab: rooms.stats().connections, stream: liveStreams.stats().open }),
    rooms: () => rooms.stats().rooms,
    bodyBytes: () => app.bodyBytesInFlight(),
    runs: () => runService.runs.count(),
  });
  const articleService = createArticleService({
    storage,
    actors,
    documents,
    rooms,
    access,
    findTopicId: async (workspaceId, reference) => (await topicService.port.find(workspaceId, reference))?.value.id,
    pager,
    ids,
    baseUrl,
    limits,
    nodeId,
    checkpointQuietMs: config.checkpointQuietMs,
    checkpointMaxMs: config.checkpointMaxMs,
    wake: pump.wake,
    listeners: {
      articleUpdated: (unit, event) => enqueue(unit, { event: "article.updated", ...event }),
      articleCommitted: (unit, event) => topicService.articleCommitted(unit, event),
      async articleDeleted(unit, article) {
        await publishing.articleDeleted(unit, article);
        await runService.runs.articleDeleted(unit, article);
      },
      articleRemoved: (unit, article) => topicService.articleRemoved(unit, article),
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
          maxReceivedBytes: limits["model.received"],
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
      auth: createAuthHandlers({ ...identity.services, tickets: identity.tickets }),
      accounts: createAccountHandlers(identity.services),
      keys: createKeyHandlers(identity.services),
      workspaces: createWorkspaceHandlers(identity.services),
      members: createMemberHandlers(identity.services),
      articles: createArticleHandlers(articleService.articles),
      content: createContentHandlers(articleService),
      commits: createCommitHandlers(articleService),
      webhooks,
      publicLinks: createPublicLinkHandlers({ links: publishing.links }),
      topics: createTopicHandlers({ topics: topicService.topics, ...runService }),
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
      ...setupRoutes,
      ...createWellKnownRoutes({ jwks: identity.jwks, baseUrl }),
      ...publicPages.routes,
      ...createWelcomeRoutes({ hasAccount: identity.hasAccount, version: options.version, baseUrl }),
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
      // Access facts must not be missed: no client is admitted before the watch has a cursor in every log.
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
      stopObservingConflicts();
    },
  };
}

/** Returns the same store with a `commit` that counts failed writes. */
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
