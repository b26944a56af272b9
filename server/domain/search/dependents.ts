/** Finds the records that a change of another record concerns, for the follower. */
import type { Change } from "./changeLog.ts";
import type { SearchSource } from "./port.ts";

/** Returns a function that replaces each change of a dependency by one change for each record that depends on it. */
export function createWithDependents(sources: readonly SearchSource[]): (changes: readonly Change[]) => Promise<readonly Change[]> {
  const dependents = new Map(
    sources.flatMap(({ record, dependency }) =>
      dependency === undefined ? [] : [[dependency.on.name, { type: record.name, keysOf: dependency.keysOf }] as const],
    ),
  );
  return async (changes) => {
    const all: Change[] = [];
    for (const change of changes) {
      const dependent = dependents.get(change.type);
      if (dependent === undefined) all.push(change);
      else for (const key of await dependent.keysOf(change.key)) all.push({ type: dependent.type, key });
    }
    return all;
  };
}
