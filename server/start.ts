/**
 * A whole server, from its settings to its last flush: listens first, so that a probe always gets an answer, then
 * opens the store, puts the parts together, opens the door; and takes all of it down in the opposite order, within
 * its time. What ends the process, and with which code, is `main.ts`'s.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { deriveSecrets } from "./auth/secrets.ts";
import { composeService, describeStore, hasStore, openStorage, type Service, startFittingHost } from "./compose.ts";
import { type Config, toOrigin } from "./config.ts";
import { createFrontDoor } from "./frontDoor.ts";
import { createMetrics } from "./observability/metrics.ts";
import { readSecretKeyFile } from "./secretKeyFile.ts";

/** Kept of the drain time for giving back leases and the last flush. */
const lastStepsMs = 500;

export interface StartedServer {
  readonly baseUrl: string;
  /** Shown to the operator once, not through the logger: the way to the first account. */
  readonly setupUrl?: string;
  /** Everything that was acknowledged is durable when it resolves. */
  drain(): Promise<void>;
}

export interface StartOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly version: string;
  /** The disk can no longer be trusted: the process must end. */
  readonly onDiskError: (error: Error) => void;
}

export async function startServer({ config, log, version, onDiskError }: StartOptions): Promise<StartedServer> {
  let baseUrl = config.baseUrl ?? "";
  const door = createFrontDoor(() => baseUrl);
  const host = await startFittingHost(door, config, log);
  const listening = toOrigin({ host: config.host, port: host.port });
  baseUrl ||= listening;
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
    if (!durable) log.warn({ reason }, "an acknowledged write may be lost: the store does not keep its promise as it is set up");
    const metrics = createMetrics();
    service = await composeService({ config, baseUrl, storage, secrets, log, metrics, version, isServing: door.isServing });
    const prepared = await service.start();
    if (prepared.kind === "link") setupUrl = prepared.url;
    if (prepared.kind === "made") log.info({ username: prepared.username }, "made the first account");
    door.open(service.app);
  } catch (reason) {
    await closeAll();
    throw reason;
  }
  log.info({ listening, baseUrl, store: describeStore(config), version, deviations: config.deviations.map(({ name }) => name) }, "ready");

  let drained: Promise<void> | undefined;
  async function drain(): Promise<void> {
    log.info({ shutdownMs: config.shutdownMs }, "draining");
    host.stopListening();
    const giveBack = new AbortController();
    const timer = setTimeout(() => giveBack.abort(), Math.max(0, config.shutdownMs - lastStepsMs));
    const done = new AbortController();
    const timeIsUp = delay(config.shutdownMs, undefined, { signal: done.signal }).catch(() => undefined);
    await Promise.race([Promise.all([door.drain(), service.drain(giveBack.signal)]), timeIsUp]);
    clearTimeout(timer);
    done.abort();
    await closeAll();
    log.info("stopped");
  }

  return {
    baseUrl,
    ...(setupUrl === undefined ? {} : { setupUrl }),
    drain: () => (drained ??= drain()),
  };
}
