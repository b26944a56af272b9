/**
 * Replicas that must hold a write before it is acknowledged, or before anybody reads it: what one node has read and
 * passed on is as good as acknowledged, whoever wrote it. `WAIT` holds its connection up, so one is under way at a time,
 * and it speaks for all that was done before it, also for what others did before this connection's last command.
 */
import { AnswerLostError, type Connection } from "./redisConnection.ts";

/** Nothing else is answered on the connection meanwhile. */
const waitMs = 500;

/** Resolves when everything sent on the connection so far is on enough replicas; fails when it may not be. */
export type Replicated = (connection: Connection) => Promise<void>;

/** `onShort`: too few hold it yet; it is asked again until `patienceMs` have gone by. */
export function createReplicated(replicas: number, patienceMs: number, onShort: () => void): Replicated {
  const underway = new WeakMap<Connection, Promise<void>>();
  const following = new WeakMap<Connection, Promise<void>>();

  async function ask(connection: Connection): Promise<void> {
    for (const untilMs = performance.now() + patienceMs; ; ) {
      let held: number;
      try {
        held = Number(await connection.send(["WAIT", String(replicas), String(waitMs)]));
      } catch (reason) {
        // A write was done: whatever is wrong here, it must not look as if it could be sent again.
        throw new AnswerLostError(`it is not known how many replicas hold the data: ${(reason as Error).message}`, { cause: reason });
      }
      if (held >= replicas) return;
      onShort();
      if (performance.now() >= untilMs) {
        throw new AnswerLostError(`${held} of the ${replicas} replicas that REDIS_WAIT_REPLICAS asks for hold the data`);
      }
    }
  }

  function begin(connection: Connection): Promise<void> {
    const round = ask(connection).finally(() => {
      if (underway.get(connection) === round) underway.delete(connection);
    });
    underway.set(connection, round);
    return round;
  }

  return (connection) => {
    if (replicas === 0) return Promise.resolve();
    const running = underway.get(connection);
    if (running === undefined) return begin(connection);
    // The round that runs began before this write: the next one is for it and for all that come meanwhile.
    const known = following.get(connection);
    if (known !== undefined) return known;
    const next = running
      .catch(() => undefined)
      .then(() => {
        following.delete(connection);
        return begin(connection);
      });
    following.set(connection, next);
    return next;
  };
}
