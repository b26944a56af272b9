/** One invariant as a playable scenario: short in the tests, full with `npm run soak`. */
import type { Outcome } from "./outcome.ts";
import { type Rig, type RigMode, type RigOptions, startRig } from "./rig.ts";

/** The outcome of a scenario, without the name and the memory, which are added later. */
export type Finding = Omit<Outcome, "name" | "maxRssMiB">;

/** The parts of a scenario. `Scale` holds the differences between a short and a full run. */
export interface ScenarioPlan<Scale> {
  readonly name: string;
  /** Modes in which the scenario makes sense. */
  readonly modes: readonly RigMode[];
  readonly short: Scale;
  readonly full: Scale;
  readonly rig?: Omit<RigOptions, "mode">;
  /** `tell`: reports a fault as text, for its analysis. */
  play(rig: Rig, scale: Scale, tell: (what: string) => void): Promise<Finding>;
  /** The goal of the full run as text, and whether an outcome meets it. */
  readonly figure: string;
  holds(outcome: Outcome): boolean;
}

export interface Played {
  readonly outcome: Outcome;
  readonly told: readonly string[];
}

export interface Scenario extends Pick<ScenarioPlan<unknown>, "name" | "modes" | "figure" | "holds"> {
  /** Starts a rig, plays the scenario, prints the outcome and removes everything. */
  play(mode: RigMode, size: "short" | "full"): Promise<Played>;
}

/** True if an outcome has no loss, no double and no other fault. */
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
