/**
 * How the store speaks to Redis: to the right master, by script, with an end to all waiting.
 *
 * What Redis refused without doing it, or never got, is tried again for a while, so that a restart or a failover shows
 * as a pause. A write whose answer was lost is never sent again: it may have been done, and only the caller can find
 * out. That is a StorageUnavailableError. Lack of memory or disk is a StorageFullError.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Partition, StorageFullError, StorageUnavailableError } from "./port.ts";
import { AnswerLostError, type Connection, ErrorReply, NotSentError, type Reply } from "./redisConnection.ts";
import type { Argument } from "./redisKeys.ts";
import type { Replicated } from "./redisReplicas.ts";
import type { Script } from "./redisScripts.ts";
import { type Topology, toNamedServer } from "./redisTopology.ts";

export interface ScriptCall {
  readonly partition: Partition;
  readonly script: Script;
  readonly keys: readonly Argument[];
  readonly args: readonly Argument[];
  /** It does no harm to do it twice. */
  readonly repeatable?: boolean;
  /** Answered only once enough replicas hold it, and all that it has read. */
  readonly replicated?: boolean;
}

export interface Calls {
  run(call: ScriptCall): Promise<Reply>;
  /** A command that changes nothing; answered only once enough replicas hold what it has read. */
  read(partition: Partition, command: readonly Argument[]): Promise<Reply>;
}

const firstPauseMs = 20;
const longestPauseMs = 500;

/** Refused before anything was done, for a reason that passes. */
const passing = /^(LOADING|MASTERDOWN|READONLY|CLUSTERDOWN|TRYAGAIN|BUSY|NOREPLICAS|ERR max number of clients)\b/;
const elsewhere = /^(MASTERDOWN|READONLY|CLUSTERDOWN)\b/;
/** Said by a master that others may have given up: it is still one, but perhaps no longer the one. */
const alone = /^NOREPLICAS\b/;
const full = /^(OOM|MISCONF)\b/;
/** Passes only when somebody changes the address or the server. */
const forbidden =
  /^(NOAUTH|WRONGPASS|NOPERM|DENIED|ERR AUTH|ERR DB index|ERR This instance has cluster support disabled|ERR unknown command 'SENTINEL')/;

/** What the caller is told when Redis goes on refusing. */
export function toUnavailable(refusal: ErrorReply): StorageUnavailableError {
  const { message } = refusal;
  return new StorageUnavailableError(forbidden.test(message) ? `Redis lets this server not in: ${message}` : message, { cause: refusal });
}

interface Way {
  readonly askServer?: ReturnType<typeof toNamedServer>;
  readonly withText?: boolean;
}

export function createCalls(options: {
  readonly topology: Topology;
  readonly replicated: Replicated;
  /** How long to go on trying. */
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

  /** What to do after a failure, or throws what the caller is to be told. */
  function judge(reason: unknown, connection: Connection | undefined, repeatable: boolean): Way {
    if (reason instanceof NotSentError) {
      topology.doubt(undefined);
      return {};
    }
    if (reason instanceof AnswerLostError) {
      topology.doubt(undefined);
      if (repeatable) return {};
      throw new StorageUnavailableError(reason.message, { cause: reason });
    }
    if (!(reason instanceof ErrorReply)) throw reason;
    const { message } = reason;
    if (message.startsWith("NOSCRIPT")) return { withText: true };
    if (message.startsWith("MOVED")) {
      topology.doubt(undefined);
      return {};
    }
    if (message.startsWith("ASK") && connection !== undefined) return { askServer: toNamedServer(reason, connection.server) };
    if (passing.test(message)) {
      if (elsewhere.test(message)) topology.doubt(connection);
      if (alone.test(message)) topology.doubt(undefined);
      return {};
    }
    if (full.test(message)) throw new StorageFullError(`Redis takes no writes: ${message}`, { cause: reason });
    if (forbidden.test(message)) throw toUnavailable(reason);
    throw new Error(`Redis found a command wrong: ${message}`, { cause: reason });
  }

  async function execute(
    partition: Partition,
    toArgs: (withText: boolean) => readonly Argument[],
    { repeatable, waits }: { readonly repeatable: boolean; readonly waits: boolean },
  ): Promise<Reply> {
    const untilMs = performance.now() + patienceMs;
    let way: Way = {};
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      let connection: Connection | undefined;
      let reason: unknown;
      try {
        connection = way.askServer === undefined ? topology.current(partition) : undefined;
        connection ??= await within(way.askServer === undefined ? topology.connect(partition) : topology.connectTo(way.askServer), untilMs);
        // Sent in one turn, so nothing comes between the two.
        const asking = way.askServer === undefined ? undefined : connection.send(["ASKING"]);
        const [answer] = await Promise.all([send(connection, toArgs(way.withText === true), waits), asking]);
        return answer;
      } catch (thrown) {
        reason = thrown;
      }
      const next = judge(reason, connection, repeatable);
      const goesOn = next.withText === true || next.askServer !== undefined;
      way = { ...(way.withText === true ? { withText: true } : {}), ...next };
      if (performance.now() + (goesOn ? 0 : pauseMs) >= untilMs) {
        throw new StorageUnavailableError((reason as Error).message, { cause: reason });
      }
      if (!goesOn) await delay(pauseMs);
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
