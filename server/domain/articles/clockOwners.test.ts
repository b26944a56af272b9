import fc from "fast-check";
import { expect, test } from "vitest";
import { ClockOwners } from "./clockOwners.ts";

const range = fc.record({
  owner: fc.integer({ min: 0, max: 3 }),
  clientId: fc.constantFrom(1, 2 ** 32 - 1),
  from: fc.integer({ min: 0, max: 40 }),
  length: fc.integer({ min: 1, max: 15 }),
});

test("[CO14] the first claim of a clock counts, in any order of the claims", () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 30 }), range, (claims, asked) => {
      const owners = new ClockOwners();
      const model = new Map<string, number>();
      for (const { owner, clientId, from, length } of claims) {
        owners.claim(owner, clientId, from, from + length);
        for (let clock = from; clock < from + length; clock += 1) {
          if (!model.has(`${clientId}/${clock}`)) model.set(`${clientId}/${clock}`, owner);
        }
      }
      const copy = new ClockOwners();
      copy.claimAll(owners.pack());
      for (const each of [owners, copy]) {
        const found: (number | undefined)[] = [];
        each.visit(asked.clientId, asked.from, asked.from + asked.length, (from, to, owner) => {
          for (let clock = from; clock < to; clock += 1) found.push(owner);
        });
        const wanted = Array.from({ length: asked.length }, (_, at) => model.get(`${asked.clientId}/${asked.from + at}`));
        expect(found).toEqual(wanted);
      }
    }),
  );
});

test("[CO14] text that one author typed in order takes one range", () => {
  const owners = new ClockOwners();
  for (let clock = 0; clock < 1000; clock += 1) owners.claim(3, 7, clock, clock + 1);
  expect([...owners.pack()]).toEqual([3, 7, 0, 1000]);
});
