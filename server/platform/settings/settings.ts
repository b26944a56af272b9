/**
 * Defines each setting as data: the allowed values, a working example, and whether its value is a secret.
 *
 * This module does not read the environment. `config.ts` collects and shows the errors.
 */
import { resolve } from "node:path";
import { z } from "zod";
import { defaultLimits, type Limits } from "../../../api/limits.ts";
import { Password, Username } from "../../../api/schema/common.ts";
import { defaultDeliverySchedule } from "../../../machines/delivery.ts";
import { type RedisAddress, toRedisAddress } from "../storage/storeAddress.ts";
import { parseLimits } from "./parseLimits.ts";
import { toAutoDisable, toBaseUrl, toCidr, toHost, toKey, toOrigin, toScheduleMs, toServiceUrl } from "./values.ts";

export interface Setting<Value> {
  /** Converts text to the value. Its messages continue the sentence that starts with `allowed`. */
  readonly schema: z.ZodType<Value, string>;
  readonly fallback: Value;
  readonly allowed: string;
  readonly example: string;
  readonly secret?: true;
}

function setting<Value>(
  schema: z.ZodType<Value, string>,
  fallback: Value,
  allowed: string,
  example: string,
  secret?: "secret",
): Setting<Value> {
  return { schema, fallback, allowed, example, ...(secret === undefined ? {} : { secret: true }) };
}

function integer(min: number, max: number, fallback: number, what: string): Setting<number> {
  const schema = z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));
  return setting(schema, fallback, `${what}: a whole number from ${min} to ${max}`, String(fallback));
}

/**
 * Refuses invalid text without an own reason, because `allowed` already describes valid text. Only `custom` issues are
 * shown as reasons.
 */
function read<Value>(toValue: (text: string) => Value | undefined): z.ZodType<Value, string> {
  return z.string().transform((text, context) => {
    const value = toValue(text);
    if (value !== undefined) return value;
    context.addIssue({ code: "invalid_format", format: "setting", input: text });
    return z.NEVER;
  });
}

const listOf = <Value>(toValue: (item: string) => Value | undefined) =>
  read((text) => {
    const values = text.split(",").map((item) => toValue(item.trim()));
    return values.includes(undefined) ? undefined : (values as Value[]);
  });

const limitsSchema = z.string().transform((text, context) => {
  const parsed = parseLimits(text);
  if ("limits" in parsed) return parsed.limits;
  for (const message of parsed.problems) context.addIssue({ code: "custom", message });
  return z.NEVER;
});

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
const hourMs = 3_600_000;

export const settings = {
  PORT: integer(0, 65_535, 8787, "the TCP port, 0 for a free one"),
  HOST: setting(read(toHost), "127.0.0.1", "an address or name of this machine to listen on", "0.0.0.0"),
  BASE_URL: setting(
    read(toBaseUrl),
    undefined as string | undefined,
    "the address that people use, without a path: use https, or http with a private address such as http://192.168.1.20:8787",
    "https://write.example.com",
  ),
  DATA_DIR: setting(
    read((text) => resolve(text)),
    resolve("data"),
    "a folder",
    "./data",
  ),
  SEARCH_DIR: setting(
    read((text) => resolve(text)),
    undefined as string | undefined,
    "a folder for the search index, which is built again when it is lost",
    "/var/cache/svc-search",
  ),
  REDIS_URL: setting(
    read(toRedisAddress) as z.ZodType<RedisAddress | undefined, string>,
    undefined,
    "redis://[user:password@]host[:port][/database], redis+sentinel://host,host/master or redis+cluster://host,host; rediss… with TLS",
    "redis://127.0.0.1:6379",
    "secret",
  ),
  REDIS_WAIT_REPLICAS: integer(0, 16, 0, "replicas that must hold a write before it is acknowledged"),
  SVC_ADMIN_USERNAME: setting(
    Username as z.ZodType<string | undefined, string>,
    undefined,
    "name of the first account: 1 to 38 of a-z, 0-9, '.', '_' and '-', starting and ending with a letter or digit",
    "admin",
  ),
  SVC_ADMIN_PASSWORD: setting(
    Password as z.ZodType<string | undefined, string>,
    undefined,
    "password of the first account: 10 to 200 characters",
    "<at least ten characters>",
    "secret",
  ),
  SVC_SECRET_KEY: setting(
    listOf(toKey) as z.ZodType<readonly Uint8Array[] | undefined, string>,
    undefined,
    "32 bytes as hex or base64; several are separated by commas, the first one seals",
    "$(openssl rand -hex 32)",
    "secret",
  ),
  OPERATOR_TOKEN: setting(
    z.string().regex(/^[\w.~+/=-]{16,512}$/) as z.ZodType<string | undefined, string>,
    undefined,
    "16 to 512 letters, digits and . _ ~ + / = -",
    "$(openssl rand -hex 16)",
    "secret",
  ),
  CORS_ORIGINS: setting<readonly string[]>(listOf(toOrigin), [], "origins, separated by commas", "https://app.example.com"),
  TRUST_PROXY: integer(0, 32, 0, "number of proxies in front of the server"),
  LIMITS: setting(limitsSchema, defaultLimits as Limits, `a JSON object of limits (docs/limits.md), or "off"`, `{"keys.active": 100}`),
  OUTBOUND_ALLOW_CIDRS: setting<readonly string[]>(
    listOf(toCidr),
    [],
    "private address ranges in which webhooks and the model's API may be called, separated by commas",
    "10.1.0.0/16,fd00::/8",
  ),
  WEBHOOK_RETRY_SCHEDULE: setting<readonly number[]>(
    listOf(toScheduleMs).refine((pauses) => pauses.length <= 50, "must have at most 50 pauses"),
    defaultDeliverySchedule,
    "up to 50 pauses in seconds, each before one attempt, separated by commas",
    defaultDeliverySchedule.map((ms) => ms / 1000).join(","),
  ),
  WEBHOOK_AUTO_DISABLE: setting(read(toAutoDisable), { onGone: false }, `"off", "410", "5d" or "410,5d"`, "off"),
  CHECKPOINT_QUIET_MS: integer(1, 24 * hourMs, 30_000, "milliseconds without an edit before a checkpoint"),
  CHECKPOINT_MAX_MS: integer(1, 24 * hourMs, 300_000, "milliseconds from the first edit to a checkpoint at the latest"),
  DISK_RESERVE_MIB: integer(0, 2 ** 30, 256, "MiB of free space below which writes are refused"),
  SHUTDOWN_MS: integer(0, hourMs, 10_000, "milliseconds to drain after SIGTERM"),
  LEASE_MS: integer(500, hourMs, 5000, "milliseconds until other nodes may take over the work of a node that no longer responds"),
  MODEL_BASE_URL: setting(
    read(toServiceUrl),
    undefined as string | undefined,
    "the address of an OpenAI-compatible API, http or https, without user name, query or fragment",
    "https://models.example.com/v1",
  ),
  MODEL_API_KEY: setting(
    z.string().regex(/^[\x21-\x7e]{1,4096}$/) as z.ZodType<string | undefined, string>,
    undefined,
    "the key for the model's API: up to 4096 printable characters",
    "<the key>",
    "secret",
  ),
  MODEL_NAME: setting(
    z.string().regex(/^[\x21-\x7e]{1,200}$/) as z.ZodType<string | undefined, string>,
    undefined,
    "the name under which the API knows the model: up to 200 printable characters",
    "large-writer",
  ),
  LOG_LEVEL: setting(z.enum(logLevels) as z.ZodType<string, string>, "info", `one of ${logLevels.join(", ")}`, "info"),
};

export type SettingName = keyof typeof settings;
export type SettingValues = { [Name in SettingName]: (typeof settings)[Name]["fallback"] };
