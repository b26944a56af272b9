/**
 * FindCircles finds the folders that import each other, directly or through other folders.
 *
 * dependency-cruiser counts the files of subfolders too, so a service file above its parts would look like a circle.
 * Here, a folder consists of its own files only.
 */

/** Each arrow is `[from, to]`. A circle is listed once, with its folders in alphabetical order. */
export function findCircles(arrows: readonly (readonly [from: string, to: string])[]): readonly (readonly string[])[] {
  const targets = new Map<string, Set<string>>();
  for (const [from, to] of arrows) {
    if (from !== to) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  }
  const reachable = new Map([...targets.keys()].map((folder) => [folder, reach(folder, targets)]));
  const circles = new Set<string>();
  for (const [folder, seen] of reachable) {
    if (!seen.has(folder)) continue;
    circles.add(
      [...seen]
        .filter((other) => reachable.get(other)?.has(folder))
        .sort()
        .join(" "),
    );
  }
  return [...circles].sort().map((circle) => circle.split(" "));
}

function reach(start: string, targets: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const next of targets.get(folder) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return seen;
}
