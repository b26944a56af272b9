/**
 * Returns how often a fault test kills its process. `FAULT_ROUNDS=5` kills five times as often, for a longer search after a
 * change of the code under test. Each kill comes at another moment, so every run tests other interruptions.
 */
export function toRounds(count: number): number {
  return Math.ceil(count * Number(process.env.FAULT_ROUNDS ?? 1));
}
