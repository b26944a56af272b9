/**
 * Provide adds the functions that run the effects to the definition of an actor kind.
 *
 * Definitions exist first and are passed to the services; effects need these services, so they are provided after them.
 */
import type { ActorEvent, ActorKind, ActorRecord, Gather, ProvidedKind, RunEffect } from "./port.ts";

export interface ProvideOptions<Context> {
  readonly committed?: (next: ActorRecord<Context>) => void;
  readonly timed?: Gather<Context>;
}

/** `effects` has one function for each effect that the kind declares. */
export function provide<Context, Event extends ActorEvent, Effect extends string>(
  kind: ActorKind<Context, Event, Effect>,
  effects: Readonly<Record<NoInfer<Effect>, RunEffect<Context, Event>>>,
  options: ProvideOptions<Context> = {},
): ProvidedKind {
  return { kind, effects, ...options };
}
