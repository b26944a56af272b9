/** Tests on both stores that no account can read another workspace. */
import { expect, it } from "vitest";
import { isolation } from "./rig/isolation.ts";

it.each(["E", "R"] as const)(
  "[FT30] whoever asks for what is another's, wherever and however, learns what there is to learn of nothing (%s)",
  async (mode) => {
    const { outcome, told } = await isolation.play(mode, "short");
    expect({ ...outcome, told }).toMatchObject({ bad: 0, told: [] });
    expect(outcome.acked).toBeGreaterThan(1000);
  },
);
