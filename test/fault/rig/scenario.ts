/** One invariant as something that can be played: small in the tests, in full by `npm run soak`. */
import type { Outcome } from "./outcome.ts";
import { type Rig, type RigMode, type RigOptions, startRig } from "./rig.ts";

/** What a scenario says of itself; the name and the memory are added. */
export type Finding = Omit<Outcome, "name" | "maxRssMiB">;

/** What a scenario is made of; `Scale` is what a short and a full play differ in. */
export interface ScenarioPlan<Scale> {
  readonly name: string;
  /** Where it means something. */
  readonly modes: readonly RigMode[];
  readonly short: Scale;
  readonly full: Scale;
  readonly rig?: Omit<RigOptions, "mode">;
  /** `tell`: what was wrong in words, for whoever has to find out. */
  play(rig: Rig, scale: Scale, tell: (what: string) => void): Promise<Finding>;
  /** The figure to hold in full, in words, and whether an outcome holds it. */
  readonly figure: string;
  holds(outcome: Outcome): boolean;
}

export interface Played {
  readonly outcome: Outcome;
  readonly told: readonly string[];
}

export interface Scenario extends Pick<ScenarioPlan<unknown>, "name" | "modes" | "figure" | "holds"> {
  /** Starts a rig, plays, prints the outcome and removes everything. */
  play(mode: RigMode, size: "short" | "full"): Promise<Played>;
}

/** Whether an outcome has no loss, no double and nothing bad. */
export const isClean = ({ bad, lost, dup }: Outcome): boolean => bad === 0 && lost === 0 && dup === 0;

const toldErrors = 5;

export function createScenario<Scale>(plan: ScenarioPlan<Scale>): Scenario {
  const { name, modes, figure, holds } = plan;
  return {
    name,
    modes,
    figure,
    holds,
    async play(mode, size) {
      const rig = await startRig({ ...plan.rig, mode });
      const told: string[] = [];
      try {
        const finding = await plan.play(rig, plan[size], (what) => told.push(what));
        const outcome = { name: `${name}/${mode}`, ...finding, maxRssMiB: rig.maxRssMiB };
        process.stderr.write(`${JSON.stringify(outcome)}\n`);
        if (!isClean(outcome)) for (const error of rig.errors().slice(0, toldErrors)) told.push(`logged: ${error}`);
        return { outcome, told };
      } finally {
        await rig.remove();
      }
    },
  };
}
