/** Defines the stored record of an actor and the shape of its events. */
import type { EventObject } from "xstate";
import type { Json } from "../storage/port.ts";

/** A requested effect that has no result yet. */
export interface PendingEffect {
  /** `<actor id>:<step>:<index>`. This is the id of the effect's due row while it has one, and its idempotency key. */
  readonly id: string;
  readonly effect: string;
  readonly params: Json;
}

export interface ArmedTimer {
  /** Id of the timer's due row. */
  readonly row: string;
  /** True if the timer stays armed when the actor takes other events. */
  readonly keep: boolean;
}

/** The stored record of an actor. `context` holds the domain's fields; it must be JSON. */
export interface ActorRecord<Context> {
  readonly id: string;
  /** XState state value. */
  readonly state: Json;
  readonly context: Context;
  /** Version of the machine that wrote the record. The record type upgrades older versions. */
  readonly machineVersion: number;
  /**
   * Number of events that the actor has taken, including its creation. A write of the record without an event does not
   * count.
   */
  readonly step: number;
  /**
   * Pending effects in the order of their requests. Only the first effect has a due row, so the effects run one at a time and in order.
   */
  readonly pending: readonly PendingEffect[];
  /** Armed timers by name. */
  readonly timers: Readonly<Record<string, ArmedTimer>>;
  /** Id of the last effect whose result was accepted. A repeated result of this effect is refused as already seen. */
  readonly lastEffectId?: string;
}

/** Every event carries the store time at which it was decided. */
export interface ActorEvent extends EventObject {
  readonly nowMs: number;
}

/** An event before the runtime adds the time. Distributes over a union of events. */
export type Timeless<Event> = Event extends unknown ? Omit<Event, "nowMs"> : never;
