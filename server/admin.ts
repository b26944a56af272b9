/**
 * Admin implements the commands `check` and `reset-password` of `svc-server`.
 *
 * An operator runs them on a data directory while no server uses it. A command must change nothing beyond what the
 * operator asked for: `check`, for example, does not create a store.
 */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { createPasswordReset } from "./domain/identity/accounts/passwordReset.ts";
import { type ExitCode, exitCodes } from "./platform/exit.ts";
import { readSecretKeyFile, secretKeyFileName } from "./platform/secretKeyFile.ts";
import { deriveSecrets } from "./platform/secrets.ts";
import { toLinkAddress } from "./platform/settings/linkAddress.ts";
import { describeStore, hasStore, openStorage } from "./store.ts";

export interface Checked {
  /** Output lines, one fact each. */
  readonly lines: readonly string[];
  readonly code: ExitCode;
}

/** Opens the store, if there is one, and reports its status. Throws the errors of a server start. */
export async function check(config: Config): Promise<Checked> {
  const weakened = config.deviations.map(({ name }) => name).join(", ");
  const settings = `settings    good${weakened === "" ? "" : `; these settings weaken a promise: ${weakened}`}`;
  if (!hasStore(config)) {
    requireWritable(config.dataDir);
    return { lines: [settings, `store       none yet; the first start creates it in ${config.dataDir}`], code: exitCodes.done };
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

/** The command cannot be executed with the given arguments and settings. */
export interface Refused {
  readonly refusal: string;
  readonly code: ExitCode;
}

export interface Reset {
  /** A secret. It is printed once, to standard output. */
  readonly url: string;
  readonly hints: readonly string[];
}

/** Throws the errors of a server start, also if a server runs on this store, because only one process may write to it. */
export async function resetPassword(config: Config, username: string, log: Logger): Promise<Reset | Refused> {
  if (!hasStore(config)) {
    return { refusal: `There is no store in ${config.dataDir}. Set DATA_DIR to the server's data directory.`, code: exitCodes.settings };
  }
  if (config.baseUrl === undefined && config.port === 0) {
    return {
      refusal: "PORT is 0, so the port in the link is unknown. Set BASE_URL, or set PORT to the port that the server will use.",
      code: exitCodes.settings,
    };
  }
  let diskError: Error | undefined;
  const storage = await openStorage(config, (error) => {
    diskError = error;
  });
  try {
    const baseUrl = config.baseUrl ?? toLinkAddress(config).origin;
    const passwords = createPasswordReset({ storage, baseUrl, lifetimeMs: config.limits["keep.setupLink"], log });
    const link = await passwords.createLink(username);
    if (link === undefined) return { refusal: `There is no account "${username}" in ${describeStore(config)}.`, code: exitCodes.usage };
    const minutes = Math.round(config.limits["keep.setupLink"] / 60_000);
    const hint = `Start the server and open the link. It sets a new password for ${link.username} once, within ${minutes} minutes, and ends the sessions of the account.`;
    const disabled = `The account ${link.username} is disabled: sign-in is refused until an operator enables it.`;
    return { url: link.url, hints: link.disabled ? [hint, disabled] : [hint] };
  } catch (reason) {
    throw diskError ?? reason;
  } finally {
    await storage.close();
  }
}

/** Throws a file system error such as EACCES if the nearest existing ancestor directory is not writable. */
function requireWritable(directory: string): void {
  const nearest = existsSync(directory) || dirname(directory) === directory ? directory : undefined;
  if (nearest === undefined) requireWritable(dirname(directory));
  else accessSync(nearest, constants.W_OK | constants.X_OK);
}
