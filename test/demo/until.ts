/** Polls a condition until it holds; fails if it takes too long. */
import { setTimeout as pause } from "node:timers/promises";

export async function until<Value>(
  look: () => Value | Promise<Value>,
  hangMs = 120_000,
): Promise<Exclude<Awaited<Value>, false | null | undefined>> {
  const deadline = Date.now() + hangMs;
  for (;;) {
    const value = await look();
    if (value !== false && value !== undefined && value !== null) return value as Exclude<Awaited<Value>, false | null | undefined>;
    if (Date.now() > deadline) throw new Error(`nothing changed for ${hangMs / 1000} s while waiting for: ${look}`);
    await pause(20);
  }
}
