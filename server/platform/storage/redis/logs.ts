/** This module reads the tail of a log from the hash of logs, and the log's entries from its Stream. */
import type { LogRead, Storage } from "../port.ts";
import type { Calls } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { redisKeys, toArgument, toLogName } from "./keys.ts";
import { redisScripts } from "./scripts.ts";

export function createRedisLogs(calls: Calls): Storage["log"] {
  return {
    async read({ partition, log, after, limit, maxBytes }): Promise<LogRead> {
      const name = toLogName(partition, log);
      const [tail, firstKept, ...rest] = (await calls.run({
        partition,
        script: redisScripts.readLog,
        keys: [redisKeys.logs(partition), redisKeys.log(partition, name)],
        args: [toArgument(name), String(after), String(limit), maxBytes === undefined ? "inf" : String(maxBytes)],
        repeatable: true,
        replicated: true,
      })) as readonly Reply[];
      if (Number(firstKept) > 0) return { gap: true, firstKept: Number(firstKept), tail: Number(tail) };
      const entries = [];
      for (let at = 0; at < rest.length; at += 2)
        entries.push({ position: Number(rest[at]), bytes: Uint8Array.from(rest[at + 1] as Buffer) });
      return { gap: false, entries, tail: Number(tail) };
    },
    async tail(partition, log) {
      const text = await calls.read(partition, ["HGET", redisKeys.logs(partition), toArgument(toLogName(partition, log))]);
      return text === null ? 0 : Number.parseInt((text as Buffer).toString(), 10);
    },
  };
}
