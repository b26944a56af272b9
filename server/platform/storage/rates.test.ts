import { expect, test } from "vitest";
import { createRates } from "./rates.ts";

const policy = { count: 1, seconds: 60, burst: 3 };

test("[PL62] the number of callers in memory is bounded, and those near their limit are kept", () => {
  const take = createRates(() => 0, 4);
  const left = (bucket: string, cost: number) => take([{ bucket, policy, cost }])[0]?.remaining;
  expect([left("light", 1), left("spent", 3)]).toEqual([2, 0]);
  for (let address = 0; address < 20; address += 1) left(`other ${address}`, 1);
  // The forgotten caller has a full bucket again.
  expect(left("light", 1)).toBe(2);
  expect(take([{ bucket: "spent", policy }])[0]).toMatchObject({ allowed: false, remaining: 0 });
});
