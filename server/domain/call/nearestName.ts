/** Finds the known name that a caller probably meant by an unknown one. */

/** Longer names are not compared, because the cost grows with the square of the length. */
const maxLength = 64;

/**
 * Returns the known name with the fewest differences: inserted, removed, replaced and swapped letters. Case, `_` and `-` do
 * not count. Undefined if each known name differs in more than a third of its letters.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  const plainName = toPlain(name);
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const plain = toPlain(candidate);
    const differences = countDifferences(plainName, plain);
    if (differences >= least || differences > Math.max(plainName.length, plain.length) / 3) continue;
    nearest = candidate;
    least = differences;
  }
  return nearest;
}

const toPlain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

/** The distance of optimal string alignment, computed row by row. */
function countDifferences(from: string, to: string): number {
  let twoBack: readonly number[] = [];
  let above: readonly number[] = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row += 1) {
    const line = [row];
    for (let at = 1; at <= to.length; at += 1) {
      const isEqual = from[row - 1] === to[at - 1];
      const isSwapped = row > 1 && at > 1 && from[row - 1] === to[at - 2] && from[row - 2] === to[at - 1];
      const replaced = numberAt(above, at - 1) + (isEqual ? 0 : 1);
      const swapped = isSwapped ? numberAt(twoBack, at - 2) + 1 : replaced;
      line.push(Math.min(replaced, swapped, numberAt(above, at) + 1, numberAt(line, at - 1) + 1));
    }
    twoBack = above;
    above = line;
  }
  return numberAt(above, to.length);
}

const numberAt = (line: readonly number[], at: number): number => line[at] ?? Number.POSITIVE_INFINITY;
