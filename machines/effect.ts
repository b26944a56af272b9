/**
 * The kinds of named action a persisted machine may use beside `assign`: an effect, which the runtime runs after
 * the commit and which may answer with an event, `drop`, which takes back an effect that was asked for, a fact,
 * which is written down in the commit, and a timer, which sends an event later.
 *
 * None of them does anything here: `transition()` gives them out as data, with their params, and whoever
 * persists the actor turns that data into rows. A machine never sees a clock, a promise or a store.
 */

/** Params of the action `timer`. The event must be JSON; the time is put on it when it fires. */
export type TimerParams =
  | {
      readonly name: string;
      /** Unix milliseconds of store time. */
      readonly atMs: number;
      readonly event: { readonly type: string };
      /** Fires whatever the actor did meanwhile; without it any event the actor takes cancels the timer. */
      readonly keep?: boolean;
    }
  | { readonly name: string; readonly atMs: null };

/** Declares an effect in `setup({ actions })`: its name and the params it is asked with. */
export function effect<Params>(): (_: unknown, params: Params) => void {
  return () => {};
}

/**
 * Declares a fact: something that happened, recorded in the same commit as the move (an audit event, a timeline
 * entry). Nothing answers it.
 */
export function fact<Params>(): (_: unknown, params: Params) => void {
  return () => {};
}

/** Params of the action `drop`. */
export interface DropParams {
  /** Names of effects. */
  readonly effects: readonly string[];
}

/**
 * The action `drop` of `setup({ actions })`: what earlier moves asked of these effects is not wanted any more. One that
 * waits is never run; one that runs loses its lease in the commit of the move, so it writes and answers nothing more.
 */
export const drop = effect<DropParams>();

/** The action `timer` of `setup({ actions })`. */
export const timer = effect<TimerParams>();
