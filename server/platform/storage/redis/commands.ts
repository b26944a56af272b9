/**
 * This module sends commands and scripts to the master of a partition, with retries and a time limit.
 *
 * A command that Redis did not receive, or refused without executing it, is retried for a limited time, so a restart or
 * failover appears as a pause. A write whose answer was lost is never sent again unless it is marked as repeatable. It
 * may have been executed, and only the caller can find out, so it fails with a StorageUnavailableError. Lack of memory
 * or disk fails with a StorageFullError.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Partition, StorageFullError, StorageUnavailableError } from "../port.ts";
import { AnswerLostError, type Connection, ErrorReply, NotSentError, type Reply } from "./connection.ts";
import type { Argument } from "./keys.ts";
import type { Replicated } from "./replicas.ts";
import type { Script } from "./scripts.ts";
import { type Topology, toNamedServer } from "./topology.ts";

export interface ScriptCall {
  readonly partition: Partition;
  readonly script: Script;
  readonly keys: readonly Argument[];
  readonly args: readonly Argument[];
  /** The script may be executed twice without harm. */
  readonly repeatable?: boolean;
  /** The answer is returned only after enough replicas hold the write, and everything the script has read. */
  readonly replicated?: boolean;
}

export interface Calls {
  run(call: ScriptCall): Promise<Reply>;
  /** Runs a read-only command. The answer is returned only after enough replicas hold the data that was read. */
  read(partition: Partition, command: readonly Argument[]): Promise<Reply>;
}

const firstPauseMs = 20;
const longestPauseMs = 500;

/** Temporary refusals: the command was not executed and can be retried. */
const passing = /^(LOADING|MASTERDOWN|READONLY|CLUSTERDOWN|TRYAGAIN|BUSY|NOREPLICAS|ERR max number of clients)\b/;
const elsewhere = /^(MASTERDOWN|READONLY|CLUSTERDOWN)\b/;
/**
 * The master has too few replicas. It may have been replaced by a failover without knowing it, so the masters are
 * looked up again.
 */
const alone = /^NOREPLICAS\b/;
const full = /^(OOM|MISCONF)\b/;
/** Permanent refusals: retrying helps only after the Redis address or the server configuration was changed. */
const forbidden =
  /^(NOAUTH|WRONGPASS|NOPERM|DENIED|ERR AUTH|ERR DB index|ERR This instance has cluster support disabled|ERR unknown command 'SENTINEL')/;

/** Redis refuses this server for good: waiting does not help, only a change of the address, the user or the Redis version. */
export class RedisRefusedError extends StorageUnavailableError {}

/** The error for the caller if Redis keeps refusing a command. */
export function toUnavailable(refusal: ErrorReply): StorageUnavailableError {
  const { message } = refusal;
  if (forbidden.test(message)) return new RedisRefusedError(`Redis denied access: ${message}`, { cause: refusal });
  return new StorageUnavailableError(message, { cause: refusal });
}

/** How the next attempt of a command differs from the first. */
interface Retry {
  readonly askServer?: ReturnType<typeof toNamedServer>;
  readonly withText?: boolean;
}

export function createRedisCommands(options: {
  readonly topology: Topology;
  readonly replicated: Replicated;
  /** How long to retry. */
  readonly patienceMs: number;
}): Calls {
  const { topology, replicated, patienceMs } = options;

  function toCommand({ script, keys, args }: ScriptCall, withText: boolean): readonly Argument[] {
    return [withText ? "EVAL" : "EVALSHA", withText ? script.text : script.sha1, String(keys.length), ...keys, ...args];
  }

  async function send(connection: Connection, command: readonly Argument[], waits: boolean): Promise<Reply> {
    const answer = connection.send(command);
    if (!waits) return answer;
    const reply = await answer;
    await replicated(connection);
    return reply;
  }

  async function within<Value>(promise: Promise<Value>, untilMs: number): Promise<Value> {
    const over = new AbortController();
    const timer = delay(Math.max(0, untilMs - performance.now()), undefined, { signal: over.signal }).then(() => {
      throw new NotSentError("Redis cannot be reached");
    });
    try {
      return await Promise.race([promise, timer]);
    } finally {
      over.abort();
      timer.catch(() => undefined);
    }
  }

  /** Decides how to retry after a failure. Throws the error for the caller if the failure must not be retried. */
  function judge(reason: unknown, connection: Connection | undefined, repeatable: boolean): Retry {
    if (reason instanceof NotSentError) {
      topology.invalidate(undefined);
      return {};
    }
    if (reason instanceof AnswerLostError) {
      topology.invalidate(undefined);
      if (repeatable) return {};
      throw new StorageUnavailableError(reason.message, { cause: reason });
    }
    if (!(reason instanceof ErrorReply)) throw reason;
    const { message } = reason;
    if (message.startsWith("NOSCRIPT")) return { withText: true };
    if (message.startsWith("MOVED")) {
      topology.invalidate(undefined);
      return {};
    }
    if (message.startsWith("ASK") && connection !== undefined) return { askServer: toNamedServer(reason, connection.server) };
    if (passing.test(message)) {
      if (elsewhere.test(message)) topology.invalidate(connection);
      if (alone.test(message)) topology.invalidate(undefined);
      return {};
    }
    if (full.test(message)) throw new StorageFullError(`Redis refuses writes: ${message}`, { cause: reason });
    if (forbidden.test(message)) throw toUnavailable(reason);
    throw new Error(`Redis rejected a command as wrong: ${message}`, { cause: reason });
  }

  async function execute(
    partition: Partition,
    toArgs: (withText: boolean) => readonly Argument[],
    { repeatable, waits }: { readonly repeatable: boolean; readonly waits: boolean },
  ): Promise<Reply> {
    const untilMs = performance.now() + patienceMs;
    let retry: Retry = {};
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      let connection: Connection | undefined;
      let reason: unknown;
      try {
        connection = retry.askServer === undefined ? topology.current(partition) : undefined;
        connection ??= await within(
          retry.askServer === undefined ? topology.connect(partition) : topology.connectTo(retry.askServer),
          untilMs,
        );
        // ASKING and the command are sent in the same turn of the event loop, so no other command can come between them.
        const asking = retry.askServer === undefined ? undefined : connection.send(["ASKING"]);
        const [answer] = await Promise.all([send(connection, toArgs(retry.withText === true), waits), asking]);
        return answer;
      } catch (thrown) {
        reason = thrown;
      }
      const next = judge(reason, connection, repeatable);
      const retriesAtOnce = next.withText === true || next.askServer !== undefined;
      retry = { ...(retry.withText === true ? { withText: true } : {}), ...next };
      if (performance.now() + (retriesAtOnce ? 0 : pauseMs) >= untilMs) {
        throw new StorageUnavailableError((reason as Error).message, { cause: reason });
      }
      if (!retriesAtOnce) await delay(pauseMs);
    }
  }

  return {
    run: (call) =>
      execute(call.partition, (withText) => toCommand(call, withText), {
        repeatable: call.repeatable === true,
        waits: call.replicated === true,
      }),
    read: (partition, command) => execute(partition, () => command, { repeatable: true, waits: true }),
  };
}
