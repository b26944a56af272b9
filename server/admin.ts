/**
 * The commands of `svc-server` beside `start`: what an operator asks of a data directory while no server runs on it.
 * They change nothing that they were not asked to change.
 */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Logger } from "pino";
import { deriveSecrets } from "./auth/secrets.ts";
import { composePasswordReset, describeStore, hasStore, openStorage } from "./compose.ts";
import { type Config, toOrigin } from "./config.ts";
import { type ExitCode, exitCodes } from "./exit.ts";
import { readSecretKeyFile, secretKeyFileName } from "./secretKeyFile.ts";

export const usage = `Usage: svc-server <command>

  start                    serve, until SIGTERM drains it
  check                    read the settings, open the store and close it again
  reset-password USERNAME  print a link by which that person sets a new password, once;
                           the server must be stopped for it, and started for the link

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
    const { kind, durable, reason, storeVersion, writes, usedMiB, diskFreeMiB } = await storage.status();
    const { rows } = await storage.due.stats();
    if (diskError !== undefined) throw diskError;
    return {
      lines: [
        settings,
        `secret key  ${config.secretKeys === undefined ? `${config.dataDir}/${secretKeyFileName}` : "SVC_SECRET_KEY"}`,
        `store       ${kind}, version ${storeVersion}, in ${describeStore(config)}, ${usedMiB ?? 0} MiB, ${rows} due rows`,
        ...(durable ? [] : [`durable     no: ${reason}`]),
        `writes      ${writes}${diskFreeMiB === undefined ? "" : `, ${Math.floor(diskFreeMiB)} MiB free on the disk`}`,
      ],
      code: writes === "ok" ? exitCodes.done : exitCodes.disk,
    };
  } finally {
    await storage.close();
  }
}

/** The command cannot be done as it was given. */
export interface Refused {
  readonly refusal: string;
  readonly code: ExitCode;
}

export interface Reset {
  /** A secret: shown once, on standard output. */
  readonly url: string;
  readonly hints: readonly string[];
}

/** Throws what a start would throw, so also when a server runs on this store: its process alone may write there. */
export async function resetPassword(config: Config, username: string, log: Logger): Promise<Reset | Refused> {
  if (!hasStore(config)) {
    return { refusal: `There is no store in ${config.dataDir}. Set DATA_DIR to the server's data directory.`, code: exitCodes.settings };
  }
  if (config.baseUrl === undefined && config.port === 0) {
    return { refusal: "With PORT=0 the link has no address. Set BASE_URL, or PORT as the server will have it.", code: exitCodes.settings };
  }
  let diskError: Error | undefined;
  const storage = await openStorage(config, (error) => {
    diskError = error;
  });
  try {
    const passwords = composePasswordReset({ config, storage, baseUrl: config.baseUrl ?? toOrigin(config), log });
    const link = await passwords.createLink(username);
    if (link === undefined) return { refusal: `There is no account "${username}" in ${describeStore(config)}.`, code: exitCodes.usage };
    const minutes = Math.round(config.limits["keep.setupLink"] / 60_000);
    const hint = `Start the server; the link sets the password of ${link.username}, once, within ${minutes} minutes, and ends its sessions.`;
    const disabled = `The account ${link.username} is disabled: nobody can sign in to it until an operator enables it.`;
    return { url: link.url, hints: link.disabled ? [hint, disabled] : [hint] };
  } catch (reason) {
    throw diskError ?? reason;
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
