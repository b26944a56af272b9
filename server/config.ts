/**
 * The configuration: the only reader of the environment. All errors are found at once, never just the first; a
 * secret's value is never repeated. What has to be read from disk (a generated secret key) is not its business.
 */
import type { Limits } from "../api/limits.ts";
import { changedLimits } from "./settings/parseLimits.ts";
import { type SettingName, type SettingValues, settings } from "./settings/settings.ts";
import type { RedisAddress } from "./storage/storeAddress.ts";

export interface Config {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Absent: made of the port once it is known. Never ends with a slash. */
  readonly baseUrl?: string;
  /** Absolute. */
  readonly dataDir: string;
  /** In place of the embedded store. */
  readonly redis?: { readonly address: RedisAddress; readonly waitReplicas: number };
  readonly firstAccount?: { readonly username: string; readonly password: string };
  /** 32 bytes each; absent: kept in a file of the data directory. */
  readonly secretKeys?: readonly Uint8Array[];
  readonly operatorToken?: string;
  readonly corsOrigins: readonly string[];
  readonly proxyHops: number;
  readonly limits: Limits;
  readonly outboundAllowCidrs: readonly string[];
  /** Pause before each attempt, the first included. */
  readonly webhookRetryScheduleMs: readonly number[];
  readonly webhookAutoDisable: { readonly onGone: boolean; readonly afterFailingMs?: number };
  readonly checkpointQuietMs: number;
  readonly checkpointMaxMs: number;
  readonly diskReserveMiB: number;
  readonly shutdownMs: number;
  readonly leaseMs: number;
  /** Absent: the built-in composer writes. `apiKey` is optional. */
  readonly model?: { readonly baseUrl: string; readonly name: string; readonly apiKey?: string };
  readonly logLevel: string;
  /** What weakens a promise, for /readyz. */
  readonly deviations: readonly Deviation[];
}

export interface Deviation {
  readonly name: string;
  readonly value?: string;
}

export interface ConfigProblem {
  readonly name: string;
  /** What was read, or that a secret was. */
  readonly read: string;
  readonly allowed: string;
  readonly example: string;
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[]; readonly warnings: readonly string[] };

/** `SVC_…` names that are not the server's own but no mistake either. */
const namesOfClients = ["SVC_BASE_URL", "SVC_API_KEY"];

/** Where a server with these settings listens, as its clients write it. */
export function toOrigin({ host, port }: Pick<Config, "host" | "port">): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Never throws and changes nothing. An empty value counts as absent. */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): ConfigResult {
  const problems: ConfigProblem[] = [];
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(settings) as SettingName[]) {
    const { schema, fallback, allowed, example, secret } = settings[name];
    const text = environment[name] ?? "";
    // A password may begin or end with a space; nothing else may.
    const parsed = text.trim() === "" ? { success: true as const, data: fallback } : schema.safeParse(secret ? text : text.trim());
    values[name] = parsed.data;
    if (parsed.success) continue;
    const reasons = parsed.error.issues.filter((issue) => issue.code === "custom" && issue.message !== "").map((issue) => issue.message);
    problems.push({ name, read: secret ? "a secret, not shown" : quote(text), allowed: [allowed, ...reasons].join("\n"), example });
  }
  const config = values as SettingValues;
  problems.push(...acrossSettings(environment, config, new Set(problems.map((problem) => problem.name))));
  const warnings = unknownNames(environment);
  return problems.length > 0 ? { ok: false, problems, warnings } : { ok: true, config: toConfig(config), warnings };
}

/** The list for people, one paragraph each. */
export function formatProblems(problems: readonly ConfigProblem[]): string {
  const paragraphs = problems.map(
    ({ name, read: was, allowed, example }) =>
      `  ${name}\n    read     ${was}\n    allowed  ${allowed.replaceAll("\n", "\n             ")}\n    mend     ${name}=${example}`,
  );
  const count = problems.length === 1 ? "One setting is" : `${problems.length} settings are`;
  return `${count} wrong; nothing was started.\n\n${paragraphs.join("\n\n")}\n`;
}

/** What was read, safe to print: on one line, not too long, without the password of a URL. */
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
    problems.push({ name: "SVC_SECRET_KEY", read: "nothing, but REDIS_URL is set: all nodes must have the same key", allowed, example });
  }
  if (isSet("REDIS_WAIT_REPLICAS") && !isSet("REDIS_URL") && values.REDIS_WAIT_REPLICAS !== 0) {
    const { allowed, example } = settings.REDIS_URL;
    problems.push({ name: "REDIS_URL", read: "nothing, but REDIS_WAIT_REPLICAS is set", allowed, example });
  }
  if (isSet("SVC_ADMIN_USERNAME") !== isSet("SVC_ADMIN_PASSWORD")) {
    const [missing, given] = isSet("SVC_ADMIN_USERNAME") ? (["PASSWORD", "USERNAME"] as const) : (["USERNAME", "PASSWORD"] as const);
    const { allowed, example } = settings[`SVC_ADMIN_${missing}`];
    problems.push({ name: `SVC_ADMIN_${missing}`, read: `nothing, but SVC_ADMIN_${given} is set`, allowed, example });
  }
  for (const [missing, given] of [
    ["MODEL_BASE_URL", "MODEL_NAME"],
    ["MODEL_NAME", "MODEL_BASE_URL"],
    ["MODEL_BASE_URL", "MODEL_API_KEY"],
  ] as const) {
    const isKnown = problems.some(({ name }) => name === missing);
    if (isSet(missing) || !isSet(given) || isKnown) continue;
    const { allowed, example } = settings[missing];
    problems.push({ name: missing, read: `nothing, but ${given} is set`, allowed, example });
  }
  const { CHECKPOINT_QUIET_MS: quietMs, CHECKPOINT_MAX_MS: maxMs } = values;
  if (!broken.has("CHECKPOINT_QUIET_MS") && !broken.has("CHECKPOINT_MAX_MS") && quietMs > maxMs) {
    const allowed = `at least CHECKPOINT_QUIET_MS, which is ${quietMs}`;
    problems.push({ name: "CHECKPOINT_MAX_MS", read: String(maxMs), allowed, example: String(quietMs) });
  }
  return problems;
}

function unknownNames(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith("SVC_") && !(name in settings) && !namesOfClients.includes(name))
    .sort()
    .map((name) => `${name} is no setting of this server and was ignored`);
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
  return [
    ...(cidrs.length > 0 ? [{ name: "OUTBOUND_ALLOW_CIDRS", value: cidrs.join(",") }] : []),
    ...changedLimits(values.LIMITS),
    ...(autoDisable.length > 0 ? [{ name: "WEBHOOK_AUTO_DISABLE", value: autoDisable.join(",") }] : []),
  ];
}
