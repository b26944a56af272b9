/**
 * StartServer starts a whole server from its settings and drains it.
 *
 * The host listens first, so that a probe always gets an answer. Then the store is opened and its indexes are completed, the
 * service is composed, and the readiness gate opens. The drain undoes these steps in reverse order within `shutdownMs`.
 * This module must not end the process or choose an exit code: `main.ts` does both.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { composeService, type Service } from "./compose.ts";
import type { Config } from "./config.ts";
import type { Prepared } from "./domain/identity/accounts/installation.ts";
import { startFittingHost } from "./edge/host/startHost.ts";
import { createReadinessGate } from "./edge/readinessGate.ts";
import { after } from "./platform/actors/after.ts";
import { createMetrics } from "./platform/observability/metrics.ts";
import { startQuietCollector } from "./platform/quietCollector.ts";
import { readSecretKeyFile } from "./platform/secretKeyFile.ts";
import { deriveSecrets } from "./platform/secrets.ts";
import { toHttpOrigin, toLinkAddress } from "./platform/settings/linkAddress.ts";
import { upgradeIndexes } from "./platform/storage/indexUpgrade.ts";
import { describeStore, hasStore, openStorage, recordTypes } from "./store.ts";

/** Part of the drain time that is reserved for giving leases back and for the last flush. */
const lastStepsMs = 500;

export interface StartedServer {
  readonly baseUrl: string;
  /** Link that creates the first account. It is a secret: print it to the operator once and never log it. */
  readonly setupUrl?: string;
  /** Resolves once every acknowledged write is durable, or once `shutdownMs` has passed. Later calls share the first drain. */
  drain(): Promise<void>;
}

export interface StartOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly version: string;
  /** Called when the store is no longer usable. The process must end. */
  readonly onDiskError: (error: Error) => void;
}

/** Logs whether `SVC_ADMIN_USERNAME` and `SVC_ADMIN_PASSWORD` created the first account or were ignored. */
function logFirstAccount(prepared: Prepared, log: Logger): void {
  if (prepared.kind === "made") log.info({ username: prepared.username }, "first account created");
  if (prepared.kind !== "ignored") return;
  const { username, isKnown } = prepared;
  const ignored = "SVC_ADMIN_USERNAME and SVC_ADMIN_PASSWORD were ignored because this store already has accounts";
  if (isKnown) log.info({ username }, `${ignored}: this account keeps its password`);
  else log.warn({ username }, `${ignored}: no account was made under this name. Sign in with an existing account, or use another DATA_DIR`);
}

export async function startServer({ config, log, version, onDiskError }: StartOptions): Promise<StartedServer> {
  let baseUrl = config.baseUrl ?? "";
  const gate = createReadinessGate(() => baseUrl);
  const host = await startFittingHost(gate, config, log);
  const listening = toHttpOrigin({ host: config.host, port: host.port });
  if (baseUrl === "") {
    const { origin, warning } = toLinkAddress({ host: config.host, port: host.port });
    baseUrl = origin;
    if (warning !== undefined) log.warn(warning);
  }
  const opened: (() => void | Promise<void>)[] = [() => host.close()];
  const closeAll = async () => {
    for (let end = opened.pop(); end !== undefined; end = opened.pop()) await end();
  };

  let service: Service;
  let setupUrl: string | undefined;
  try {
    const secrets = deriveSecrets(config.secretKeys ?? [readSecretKeyFile(config.dataDir, hasStore(config))]);
    const storage = await openStorage(config, onDiskError);
    opened.push(() => storage.close());
    const { durable, reason } = await storage.status();
    if (!durable) log.warn({ reason }, "acknowledged writes may be lost: the store is not set up to be durable");
    await upgradeIndexes({ storage, recordTypes, log });
    const metrics = createMetrics();
    service = await composeService({
      config,
      baseUrl,
      storage,
      secrets,
      log,
      metrics,
      version,
      broadcast: host,
      isServing: gate.isServing,
    });
    const prepared = await service.start();
    if (prepared.kind === "link") setupUrl = prepared.url;
    logFirstAccount(prepared, log);
    gate.open(service.app);
  } catch (reason) {
    await closeAll();
    throw reason;
  }
  opened.push(startQuietCollector({ after }), service.app.compileInPauses());
  const deviations = config.deviations.map(({ name }) => name);
  log.info({ pid: process.pid, listening, baseUrl, store: describeStore(config), version, deviations }, "ready");

  let drained: Promise<void> | undefined;
  async function drain(): Promise<void> {
    log.info({ shutdownMs: config.shutdownMs }, "draining");
    host.stopListening();
    const releaseWork = new AbortController();
    const timer = setTimeout(() => releaseWork.abort(), Math.max(0, config.shutdownMs - lastStepsMs));
    const done = new AbortController();
    const timeIsUp = delay(config.shutdownMs, undefined, { signal: done.signal }).catch(() => undefined);
    try {
      await Promise.race([Promise.all([gate.drain(), service.drain(releaseWork.signal)]), timeIsUp]);
    } finally {
      clearTimeout(timer);
      done.abort();
      // The store is flushed even if a part of the service could not be closed.
      await closeAll();
    }
    log.info("stopped");
  }

  return {
    baseUrl,
    ...(setupUrl === undefined ? {} : { setupUrl }),
    drain: () => (drained ??= drain()),
  };
}
