/**
 * ActiveConnections makes connections drop their parts when they have become idle. One timer serves all connections of
 * the process, and it runs only while one of them has parts.
 */
import type { Clock } from "../ports.ts";

const sweepMs = 2000;

interface Active {
  /** Drops the parts that hold nothing. Returns true if the connection has none left. */
  dropParts(): boolean;
}

export class ActiveConnections {
  private readonly clock: Clock;
  private readonly active = new Set<Active>();
  private isWaiting = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  add(connection: Active): void {
    this.active.add(connection);
    this.schedule();
  }

  delete(connection: Active): void {
    this.active.delete(connection);
  }

  private schedule(): void {
    if (this.isWaiting || this.active.size === 0) return;
    this.isWaiting = true;
    this.clock.after(sweepMs, () => {
      this.isWaiting = false;
      for (const connection of this.active) if (connection.dropParts()) this.active.delete(connection);
      this.schedule();
    });
  }
}
