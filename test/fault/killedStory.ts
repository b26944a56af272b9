/**
 * Plays a story of the demo under a server that is killed at random moments. The people in the story only notice
 * pauses.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Narrator, silence } from "../demo/narrator.ts";
import { type DemoStage, startStage } from "../demo/stage.ts";
import { toRounds } from "../support/faultRounds.ts";

export type Story<Ending> = (stage: DemoStage, tell: Narrator, pace: { readonly keyPauseMs: number }) => Promise<Ending>;

/** Number of kills under each story. */
export const kills = toRounds(4);

export interface Disturbance {
  readonly kills: number;
  /** Milliseconds from one kill, or from the start, to the next. */
  readonly withinMs: { readonly least: number; readonly most: number };
}

async function play<Ending>(story: Story<Ending>, disturb: (stage: DemoStage, over: AbortSignal) => Promise<void>) {
  const stage = await startStage({ dictationPieceMs: 12 });
  const over = new AbortController();
  try {
    const playing = story(stage, silence, { keyPauseMs: 12 }).finally(() => over.abort());
    const [ending] = await Promise.all([playing, disturb(stage, over.signal)]);
    return { ending, kills: stage.kills };
  } finally {
    await stage.remove();
  }
}

export async function playUndisturbed<Ending>(story: Story<Ending>): Promise<Ending> {
  return (await play(story, async () => {})).ending;
}

/** Plays the story under kills. `told` lists the times of the kills, for the analysis of a failure. */
export async function playKilled<Ending>(
  story: Story<Ending>,
  { kills, withinMs }: Disturbance,
): Promise<{ readonly ending: Ending; readonly kills: number; readonly told: string }> {
  const moments: number[] = [];
  const told = () => `killed after ${moments.join(", ")} ms`;
  const played = await play(story, async (stage, over) => {
    while (!over.aborted && stage.kills < kills) {
      const delayMs = Math.round(withinMs.least + Math.random() * (withinMs.most - withinMs.least));
      moments.push(delayMs);
      await pause(delayMs, undefined, { signal: over }).catch(() => {});
      if (!over.aborted) await stage.crash();
    }
  }).catch((reason: unknown) => {
    throw new Error(told(), { cause: reason });
  });
  return { ...played, told: told() };
}
