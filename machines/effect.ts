/**
 * Effect declares the named actions that a persisted machine may use in addition to `assign`:
 * - an effect runs after the commit and may answer with an event; `drop` cancels requested effects;
 * - a fact is recorded in the commit; a timer sends an event later.
 *
 * The actions do nothing themselves: `transition()` returns them as data with their params, and the actor runtime turns
 * that data into rows. A machine must not know a clock, a promise or a store.
 */

/** Params of the action `timer`. The event must be JSON. Its time is added when the timer fires. `atMs: null` cancels. */
export type TimerParams =
  | {
      readonly name: string;
      /** Unix milliseconds of store time. */
      readonly atMs: number;
      readonly event: { readonly type: string };
      /** If true, other events do not cancel the timer. Otherwise any event that the actor accepts cancels it. */
      readonly keep?: boolean;
    }
  | { readonly name: string; readonly atMs: null };

/** Declares an effect in `setup({ actions })`, with the type of its params. */
export function effect<Params>(): (_: unknown, params: Params) => void {
  return () => {};
}

/**
 * Declares a fact in `setup({ actions })`: data recorded in the same commit as the transition, such as an audit event or
 * a timeline entry. A fact sends no event back.
 */
export function fact<Params>(): (_: unknown, params: Params) => void {
  return () => {};
}

/** Params of the action `drop`. */
export interface DropParams {
  /** Names of the effects to cancel. */
  readonly effects: readonly string[];
}

/**
 * The action `drop` of `setup({ actions })`: cancels effects that earlier transitions requested. A waiting effect never
 * runs. A running effect loses its lease in the commit of this transition, so it can no longer write or answer.
 */
export const drop = effect<DropParams>();

/** The action `timer` of `setup({ actions })`. */
export const timer = effect<TimerParams>();
