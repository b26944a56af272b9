/**
 * This module reads the settings of the Redis servers and lists the ways in which an acknowledged write may be
 * lost. An empty list means that an acknowledged write is on disk.
 */

import type { RedisAddress } from "../storeAddress.ts";
import { type Connection, ErrorReply, type Reply } from "./connection.ts";

const wantedSettings = ["appendonly", "appendfsync", "maxmemory", "maxmemory-policy", "no-appendfsync-on-rewrite"] as const;

/** The scripts declare flags (`#!lua flags=…`), which Redis supports from version 7. */
const oldestMajor = 7;

export type ServerSettings = Readonly<Record<(typeof wantedSettings)[number], string>>;

const text = (reply: Reply) => (Buffer.isBuffer(reply) ? reply.toString() : String(reply));

/** Reads the settings; `undefined` if the server refuses CONFIG GET. */
export async function readSettings(connection: Connection): Promise<ServerSettings | undefined> {
  const read = async (name: string): Promise<string> => {
    const reply = await connection.send(["CONFIG", "GET", name]);
    // The reply is a map in RESP3, and a list of name and value in RESP2.
    if (Array.isArray(reply)) return text(reply[1] ?? "");
    return text((reply as unknown as Record<string, Reply>)[name] ?? "");
  };
  try {
    const values = await Promise.all(wantedSettings.map(async (name) => [name, await read(name)] as const));
    return Object.fromEntries(values) as ServerSettings;
  } catch (reason) {
    if (reason instanceof ErrorReply) return undefined;
    throw reason;
  }
}

export interface ServerFacts {
  readonly version: string;
  readonly isTooOld: boolean;
  readonly replicas: number;
  readonly usedBytes: number;
  /** 0: no limit. */
  readonly maxBytes: number;
}

export async function readFacts(connection: Connection): Promise<ServerFacts> {
  const sections = await Promise.all(["server", "replication", "memory"].map((section) => connection.send(["INFO", section])));
  const all = sections.map(text).join("\n");
  const fact = (name: string) => new RegExp(`^${name}:([^\\r\\n]*)`, "m").exec(all)?.[1] ?? "";
  const version = fact("redis_version");
  return {
    version,
    isTooOld: Number.parseInt(version, 10) < oldestMajor,
    replicas: Number(fact("connected_slaves")),
    usedBytes: Number(fact("used_memory")),
    maxBytes: Number(fact("maxmemory")),
  };
}

/** Returns one sentence for each way in which an acknowledged write may be lost. */
export function toWeaknesses(
  settings: ServerSettings | undefined,
  facts: Pick<ServerFacts, "replicas">,
  { kind, waitReplicas }: Pick<RedisAddress, "kind"> & { readonly waitReplicas: number },
): readonly string[] {
  const found: string[] = [];
  if (settings === undefined) found.push("CONFIG GET is not allowed, so it is not known whether what is acknowledged is on disk");
  else {
    if (settings.appendonly !== "yes") found.push("appendonly is not yes: a restart loses what was written since the last snapshot");
    else if (settings.appendfsync !== "always")
      found.push(`appendfsync is ${settings.appendfsync}, not always: a crash of the machine loses the last writes`);
    else if (settings["no-appendfsync-on-rewrite"] !== "no")
      found.push("no-appendfsync-on-rewrite is yes: a crash of the machine while Redis rewrites its log loses the writes of that time");
    if (settings["maxmemory-policy"] !== "noeviction")
      found.push(`maxmemory-policy is ${settings["maxmemory-policy"]}, not noeviction: Redis throws data away when memory is short`);
  }
  const failsOver = kind === "sentinel" || (kind === "cluster" && facts.replicas > 0);
  if (failsOver && waitReplicas === 0) found.push("REDIS_WAIT_REPLICAS is 0: a failover loses what the new master has not received");
  return found;
}
