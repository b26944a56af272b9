/**
 * One connection to one Redis server, from its opening to its loss. It is never mended: whoever needs another one
 * opens it, so that no command is ever sent twice behind anybody's back.
 *
 * A command fails in one of three ways: the server refused it (`ErrorReply`), it was surely not sent
 * (`NotSentError`), or nobody knows (`AnswerLostError`).
 */
import { ClientClosedError, ClientOfflineError, ErrorReply } from "redis";
import { connectRedisClient, createRedisClient, type Entrance } from "./redisClient.ts";
import type { Argument } from "./redisKeys.ts";
import { type ServerAddress, toServerName } from "./storeAddress.ts";

export type Reply = Buffer | string | number | null | readonly Reply[];

/** The command did not reach the server. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
}

/** The command was sent; whether it was done is not known. */
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

const lookEveryMs = 500;
/** A connection on which nothing has come for so many looks, though something was asked, is dead. */
const silentLooks = 10;

/** Resolves to an open connection, or fails with a NotSentError, or with the ErrorReply to the credentials. */
export async function openConnection(server: ServerAddress, entrance: Entrance): Promise<Connection> {
  const client = createRedisClient(server, entrance);
  const name = toServerName(server);
  let lastError: Error | undefined;
  // Unheard, it would end the process. The client goes on after bytes that are no answer, and then gives each command the answer to another.
  client.on("error", (error: Error) => {
    lastError = error;
    queueMicrotask(() => client.destroy());
  });
  try {
    await connectRedisClient(client);
  } catch (reason) {
    // It answered, and does not let us in.
    if (reason instanceof ErrorReply) throw reason;
    throw new NotSentError(`Redis at ${name} cannot be reached: ${(lastError ?? (reason as Error)).message}`, { cause: reason });
  }

  let asked = 0;
  let answered = 0;
  let answeredBefore = -1;
  let looks = 0;
  // Looks are counted, not milliseconds: a process that was stopped itself must not blame the server.
  const watch = setInterval(() => {
    looks = asked > answered && answered === answeredBefore ? looks + 1 : 0;
    answeredBefore = answered;
    if (looks >= silentLooks) end();
  }, lookEveryMs).unref();
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
