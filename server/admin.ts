/**
 * The commands of `svc-server` beside `start`: what an operator asks of a data directory while no server runs on it.
 * They change nothing that they were not asked to change.
 */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { deriveSecrets } from "./auth/secrets.ts";
import { hasStore, openStorage } from "./compose.ts";
import type { Config } from "./config.ts";
import { type ExitCode, exitCodes } from "./exit.ts";
import { readSecretKeyFile, secretKeyFileName } from "./secretKeyFile.ts";

export const usage = `Usage: svc-server <command>

  start    serve, until SIGTERM drains it
  check    read the settings, open the store and close it again

Settings are read from the environment; the README lists them.
`;

export interface Checked {
  /** One fact each. */
  readonly lines: readonly string[];
  readonly code: ExitCode;
}

/** Throws what a start would throw. */
export async function check(config: Config): Promise<Checked> {
  const weakened = config.deviations.map(({ name }) => name).join(", ");
  const settings = `settings    good${weakened === "" ? "" : `; they weaken a promise: ${weakened}`}`;
  if (!hasStore(config)) {
    requireWritable(config.dataDir);
    return { lines: [settings, `store       none yet; the first start makes it in ${config.dataDir}`], code: exitCodes.done };
  }
  deriveSecrets(config.secretKeys ?? [readSecretKeyFile(config.dataDir, true)]);
  let diskError: Error | undefined;
  const storage = await openStorage(config, (error) => {
    diskError = error;
  });
  try {
    const { kind, storeVersion, writes, usedMiB, diskFreeMiB } = await storage.status();
    const { rows } = await storage.due.stats();
    if (diskError !== undefined) throw diskError;
    return {
      lines: [
        settings,
        `secret key  ${config.secretKeys === undefined ? `${config.dataDir}/${secretKeyFileName}` : "SVC_SECRET_KEY"}`,
        `store       ${kind}, version ${storeVersion}, in ${config.dataDir}, ${usedMiB ?? 0} MiB, ${rows} due rows`,
        `writes      ${writes}${diskFreeMiB === undefined ? "" : `, ${Math.floor(diskFreeMiB)} MiB free on the disk`}`,
      ],
      code: writes === "ok" ? exitCodes.done : exitCodes.disk,
    };
  } finally {
    await storage.close();
  }
}

/** Throws EACCES and the like for the nearest folder that exists. */
function requireWritable(directory: string): void {
  const nearest = existsSync(directory) || dirname(directory) === directory ? directory : undefined;
  if (nearest === undefined) requireWritable(dirname(directory));
  else accessSync(nearest, constants.W_OK | constants.X_OK);
}
