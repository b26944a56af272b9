/**
 * The replica wait makes sure that enough replicas hold a write before it is acknowledged, and before any client reads
 * it.
 *
 * Data that a node has read and passed on counts as acknowledged, no matter which node wrote it. `WAIT` blocks its
 * connection, so one `WAIT` runs at a time per connection. It covers every write executed before it, including writes
 * of other connections that precede this connection's last command.
 */
import { AnswerLostError, type Connection } from "./connection.ts";

/** The connection answers no other command during this time. */
const waitMs = 500;

/** Resolves when enough replicas hold everything sent on the connection so far. Throws an AnswerLostError if they may not. */
export type Replicated = (connection: Connection) => Promise<void>;

/**
 * Creates the wait. If too few replicas hold the data, `onShort` is called and WAIT is repeated until `patienceMs` have
 * passed.
 */
export function createReplicated(replicas: number, patienceMs: number, onShort: () => void): Replicated {
  const underway = new WeakMap<Connection, Promise<void>>();
  const following = new WeakMap<Connection, Promise<void>>();

  async function ask(connection: Connection): Promise<void> {
    for (const untilMs = performance.now() + patienceMs; ; ) {
      let held: number;
      try {
        held = Number(await connection.send(["WAIT", String(replicas), String(waitMs)]));
      } catch (reason) {
        // The write was executed. An error of another kind could make the caller send the write again.
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
    // The running WAIT began before this write. The next WAIT covers this write and all others made until it starts.
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
