/**
 * Config reads the settings from environment variables and validates them.
 *
 * It is the only module that reads the environment. It reports all problems at once and never prints the value of a
 * secret. It must not read the disk: the generated secret key is loaded elsewhere.
 */
import { join } from "node:path";
import type { Limits } from "../api/limits.ts";
import { isLoopback, isPublicAddress } from "./platform/settings/linkAddress.ts";
import { changedLimits } from "./platform/settings/parseLimits.ts";
import { type SettingName, type SettingValues, settings } from "./platform/settings/settings.ts";
import type { RedisAddress } from "./platform/storage/storeAddress.ts";

export interface Config {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** Never ends with a slash. If absent, `toLinkAddress` derives it once the port is known. */
  readonly baseUrl?: string;
  /** Absolute path. */
  readonly dataDir: string;
  /** Absolute path of the folder for the search index. */
  readonly searchDir: string;
  /** If present, Redis replaces the embedded store. */
  readonly redis?: { readonly address: RedisAddress; readonly waitReplicas: number };
  readonly firstAccount?: { readonly username: string; readonly password: string };
  /** 32 bytes each. If absent, the key is kept in a file of the data directory. */
  readonly secretKeys?: readonly Uint8Array[];
  readonly operatorToken?: string;
  readonly corsOrigins: readonly string[];
  readonly proxyHops: number;
  readonly limits: Limits;
  readonly outboundAllowCidrs: readonly string[];
  /** Delay in milliseconds before each attempt, including the first. */
  readonly webhookRetryScheduleMs: readonly number[];
  readonly webhookAutoDisable: { readonly onGone: boolean; readonly afterFailingMs?: number };
  readonly checkpointQuietMs: number;
  readonly checkpointMaxMs: number;
  readonly diskReserveMiB: number;
  readonly shutdownMs: number;
  readonly leaseMs: number;
  /** If absent, the built-in composer writes the text instead of a model. */
  readonly model?: { readonly baseUrl: string; readonly name: string; readonly apiKey?: string };
  readonly logLevel: string;
  /** Settings that weaken a guarantee of the server. /readyz lists them. */
  readonly deviations: readonly Deviation[];
}

export interface Deviation {
  readonly name: string;
  readonly value?: string;
}

export interface ConfigProblem {
  readonly name: string;
  /** The value that was read. For a secret only a note that the value is not shown. */
  readonly read: string;
  readonly allowed: string;
  readonly example: string;
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[]; readonly warnings: readonly string[] };

/** `SVC_…` variables that clients use. They are no settings of the server, but no warning is due either. */
const namesOfClients = ["SVC_BASE_URL", "SVC_API_KEY"];

/** Reads and validates all settings. Never throws and has no side effects. An empty value counts as absent. */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): ConfigResult {
  const problems: ConfigProblem[] = [];
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(settings) as SettingName[]) {
    const { schema, fallback, allowed, example, secret } = settings[name];
    const text = environment[name] ?? "";
    // Secrets are not trimmed, because a password may begin or end with a space.
    const parsed = text.trim() === "" ? { success: true as const, data: fallback } : schema.safeParse(secret ? text : text.trim());
    values[name] = parsed.data;
    if (parsed.success) continue;
    const reasons = parsed.error.issues.filter((issue) => issue.code === "custom").map((issue) => issue.message);
    problems.push({ name, read: secret ? "a secret, not shown" : quote(text), allowed: [allowed, ...reasons].join("\n"), example });
  }
  const config = values as SettingValues;
  problems.push(...acrossSettings(environment, config, new Set(problems.map((problem) => problem.name))));
  const warnings = unknownNames(environment);
  if (problems.length > 0) return { ok: false, problems, warnings };
  const plain = plainHttpSetting(config);
  if (plain !== undefined) warnings.push(`${plain.name}=${plain.value}: passwords and keys cross the network unencrypted; ${tlsAdvice}`);
  return { ok: true, config: toConfig(config), warnings };
}

/** Formats the problems for the operator, one paragraph each. */
export function formatProblems(problems: readonly ConfigProblem[]): string {
  const paragraphs = problems.map(
    ({ name, read: was, allowed, example }) =>
      `  ${name}\n    read     ${was}\n    allowed  ${allowed.replaceAll("\n", "\n             ")}\n    example  ${name}=${example}`,
  );
  const count = problems.length === 1 ? "One setting is" : `${problems.length} settings are`;
  return `${count} wrong; nothing was started.\n\n${paragraphs.join("\n\n")}\n`;
}

/** Returns the value in a form that is safe to print: one line, at most 200 characters, no password of a URL. */
function quote(text: string): string {
  const shown = text.replace(/\/\/[^/@]*@/g, "//…@");
  return JSON.stringify(shown.length > 200 ? `${shown.slice(0, 200)}…` : shown);
}

function acrossSettings(
  environment: Readonly<Record<string, string | undefined>>,
  values: SettingValues,
  broken: ReadonlySet<string>,
): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const isSet = (name: string): boolean => (environment[name] ?? "").trim() !== "";
  if (isSet("REDIS_URL") && !isSet("SVC_SECRET_KEY")) {
    const { allowed, example } = settings.SVC_SECRET_KEY;
    problems.push({ name: "SVC_SECRET_KEY", read: "not set, but REDIS_URL is set: all nodes need the same key", allowed, example });
  }
  if (isSet("REDIS_WAIT_REPLICAS") && !isSet("REDIS_URL") && values.REDIS_WAIT_REPLICAS !== 0) {
    const { allowed, example } = settings.REDIS_URL;
    problems.push({ name: "REDIS_URL", read: "not set, but REDIS_WAIT_REPLICAS is set", allowed, example });
  }
  if (isPublicAddress(values.HOST) && !isSet("BASE_URL")) {
    const { allowed, example } = settings.BASE_URL;
    problems.push({
      name: "BASE_URL",
      read: `not set, but HOST is ${values.HOST}, which is neither a private nor a loopback address`,
      allowed,
      example,
    });
  }
  if (isSet("SVC_ADMIN_USERNAME") !== isSet("SVC_ADMIN_PASSWORD")) {
    const [missing, given] = isSet("SVC_ADMIN_USERNAME") ? (["PASSWORD", "USERNAME"] as const) : (["USERNAME", "PASSWORD"] as const);
    const { allowed, example } = settings[`SVC_ADMIN_${missing}`];
    problems.push({ name: `SVC_ADMIN_${missing}`, read: `not set, but SVC_ADMIN_${given} is set`, allowed, example });
  }
  for (const [missing, given] of [
    ["MODEL_BASE_URL", "MODEL_NAME"],
    ["MODEL_NAME", "MODEL_BASE_URL"],
    ["MODEL_BASE_URL", "MODEL_API_KEY"],
  ] as const) {
    const isKnown = problems.some(({ name }) => name === missing);
    if (isSet(missing) || !isSet(given) || isKnown) continue;
    const { allowed, example } = settings[missing];
    problems.push({ name: missing, read: `not set, but ${given} is set`, allowed, example });
  }
  const { CHECKPOINT_QUIET_MS: quietMs, CHECKPOINT_MAX_MS: maxMs } = values;
  if (!broken.has("CHECKPOINT_QUIET_MS") && !broken.has("CHECKPOINT_MAX_MS") && quietMs > maxMs) {
    const allowed = `at least CHECKPOINT_QUIET_MS, which is ${quietMs}`;
    problems.push({ name: "CHECKPOINT_MAX_MS", read: String(maxMs), allowed, example: String(quietMs) });
  }
  return problems;
}

const tlsAdvice = "put a proxy with TLS in front of the server and set BASE_URL to its https address";

/** Returns the setting that makes clients use plain http over a network, or undefined if no setting does. */
function plainHttpSetting({ BASE_URL: baseUrl, HOST: host }: SettingValues): Required<Deviation> | undefined {
  if (baseUrl === undefined) return isLoopback(host) ? undefined : { name: "HOST", value: host };
  const { protocol, hostname } = new URL(baseUrl);
  const isPlain = protocol === "http:" && !isLoopback(hostname.replace(/^\[|\]$/g, ""));
  return isPlain ? { name: "BASE_URL", value: baseUrl } : undefined;
}

function unknownNames(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith("SVC_") && !(name in settings) && !namesOfClients.includes(name))
    .sort()
    .map((name) => `${name} is not a setting of this server; it was ignored`);
}

function toConfig(values: SettingValues): Config {
  const { BASE_URL: baseUrl, SVC_SECRET_KEY: secretKeys, OPERATOR_TOKEN: operatorToken } = values;
  const { REDIS_URL: redis } = values;
  const { SVC_ADMIN_USERNAME: username, SVC_ADMIN_PASSWORD: password } = values;
  const { MODEL_BASE_URL: modelUrl, MODEL_NAME: model, MODEL_API_KEY: apiKey } = values;
  return {
    host: values.HOST,
    port: values.PORT,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    dataDir: values.DATA_DIR,
    searchDir: values.SEARCH_DIR ?? join(values.DATA_DIR, "search"),
    ...(redis === undefined ? {} : { redis: { address: redis, waitReplicas: values.REDIS_WAIT_REPLICAS } }),
    ...(username === undefined || password === undefined ? {} : { firstAccount: { username, password } }),
    ...(secretKeys === undefined ? {} : { secretKeys }),
    ...(operatorToken === undefined ? {} : { operatorToken }),
    corsOrigins: values.CORS_ORIGINS,
    proxyHops: values.TRUST_PROXY,
    limits: values.LIMITS,
    outboundAllowCidrs: values.OUTBOUND_ALLOW_CIDRS,
    webhookRetryScheduleMs: values.WEBHOOK_RETRY_SCHEDULE,
    webhookAutoDisable: values.WEBHOOK_AUTO_DISABLE,
    checkpointQuietMs: values.CHECKPOINT_QUIET_MS,
    checkpointMaxMs: values.CHECKPOINT_MAX_MS,
    diskReserveMiB: values.DISK_RESERVE_MIB,
    shutdownMs: values.SHUTDOWN_MS,
    leaseMs: values.LEASE_MS,
    ...(modelUrl === undefined || model === undefined
      ? {}
      : { model: { baseUrl: modelUrl, name: model, ...(apiKey === undefined ? {} : { apiKey }) } }),
    logLevel: values.LOG_LEVEL,
    deviations: toDeviations(values),
  };
}

function toDeviations(values: SettingValues): readonly Deviation[] {
  const cidrs = values.OUTBOUND_ALLOW_CIDRS;
  const { onGone, afterFailingMs } = values.WEBHOOK_AUTO_DISABLE;
  const autoDisable = [...(onGone ? ["410"] : []), ...(afterFailingMs === undefined ? [] : ["5d"])];
  const plain = plainHttpSetting(values);
  return [
    ...(plain === undefined ? [] : [plain]),
    ...(cidrs.length > 0 ? [{ name: "OUTBOUND_ALLOW_CIDRS", value: cidrs.join(",") }] : []),
    ...changedLimits(values.LIMITS),
    ...(autoDisable.length > 0 ? [{ name: "WEBHOOK_AUTO_DISABLE", value: autoDisable.join(",") }] : []),
  ];
}
