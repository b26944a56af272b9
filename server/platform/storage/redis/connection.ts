/**
 * A connection sends commands to one Redis server until the connection is lost.
 *
 * It never reconnects. The caller opens a new connection instead, so no command is sent twice without the caller's
 * knowledge.
 *
 * A command fails in one of three ways: the server refused it (`ErrorReply`), it was certainly not sent
 * (`NotSentError`), or it is unknown whether it was executed (`AnswerLostError`).
 */
import { ClientClosedError, ClientOfflineError, ErrorReply } from "redis";
import { type ServerAddress, toServerName } from "../storeAddress.ts";
import { connectRedisClient, createRedisClient, type RedisLogin } from "./client.ts";
import type { Argument } from "./keys.ts";

export type Reply = Buffer | string | number | null | readonly Reply[];

/** The command did not reach the server. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
}

/** The command was sent. It is unknown whether the server executed it. */
export class AnswerLostError extends Error {
  override readonly name = "AnswerLostError";
}

export { ErrorReply };

export interface Connection {
  readonly server: ServerAddress;
  readonly isOpen: boolean;
  send(args: readonly Argument[]): Promise<Reply>;
  close(): void;
}

const checkEveryMs = 500;
/** A connection is closed after this number of checks without any answer while commands are pending. */
const maxSilentChecks = 10;

/**
 * Resolves to an open connection. Throws a NotSentError if the server is unreachable, or the ErrorReply if it refused
 * the credentials.
 */
export async function openConnection(server: ServerAddress, login: RedisLogin): Promise<Connection> {
  const client = createRedisClient(server, login);
  const name = toServerName(server);
  let lastError: Error | undefined;
  // Without a listener, an `error` event would end the process. The client must be destroyed here: after bytes it
  // cannot parse, it would continue and give each command the answer of another command.
  client.on("error", (error: Error) => {
    lastError = error;
    queueMicrotask(() => client.destroy());
  });
  try {
    await connectRedisClient(client);
  } catch (reason) {
    // The server answered and refused access.
    if (reason instanceof ErrorReply) throw reason;
    throw new NotSentError(`Redis at ${name} cannot be reached: ${(lastError ?? (reason as Error)).message}`, { cause: reason });
  }

  let asked = 0;
  let answered = 0;
  let answeredBefore = -1;
  let silentChecks = 0;
  // The watch counts checks instead of milliseconds. Otherwise a pause of this process would count as silence of the server.
  const watch = setInterval(() => {
    silentChecks = asked > answered && answered === answeredBefore ? silentChecks + 1 : 0;
    answeredBefore = answered;
    if (silentChecks >= maxSilentChecks) end();
  }, checkEveryMs).unref();
  function end(): void {
    clearInterval(watch);
    client.destroy();
  }
  client.on("end", () => clearInterval(watch));
  client.on("terminated", () => clearInterval(watch));

  return {
    server,
    get isOpen() {
      return client.isReady;
    },
    async send(args) {
      asked += 1;
      try {
        return (await client.sendCommand(args)) as Reply;
      } catch (reason) {
        if (reason instanceof ErrorReply) throw reason;
        const cause = { cause: reason };
        if (reason instanceof ClientOfflineError || reason instanceof ClientClosedError) {
          throw new NotSentError(`there is no connection to Redis at ${name}`, cause);
        }
        throw new AnswerLostError(`Redis at ${name} did not answer: ${(reason as Error).message}`, cause);
      } finally {
        answered += 1;
      }
    },
    close: end,
  };
}
