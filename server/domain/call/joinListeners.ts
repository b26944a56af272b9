/** Joins the listeners of several domains into one. Each adds its changes to the unit of the event, in the given order. */
import type { UnitOfWork } from "../../platform/actors/port.ts";

type Listener = (unit: UnitOfWork, event: never) => Promise<void>;

/** `events` names every event of the port, so that a new event without a listener does not compile. */
export function joinListeners<Listeners extends { readonly [Event in keyof Listeners]: Listener }>(
  events: { readonly [Event in keyof Listeners]: true },
  listeners: readonly Partial<Listeners>[],
): Listeners {
  const join =
    (event: keyof Listeners): Listener =>
    async (unit, value) => {
      for (const listener of listeners) await listener[event]?.(unit, value);
    };
  return Object.fromEntries(Object.keys(events).map((event) => [event, join(event as keyof Listeners)])) as Listeners;
}
