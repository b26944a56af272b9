/**
 * Fidelity compares a document with its output and reports the constructs that were lost: how often, and in which lines.
 *
 * The report is measured, not declared: the output is read back with the same reader that reads uploads. Only formats that
 * cannot be read back as structure (PDF, plain text) are judged by the table of constructs and by their words.
 */
import type { Root } from "mdast";
import type { ConversionFidelity, ConversionOutputFormat } from "../../../../api/schema/conversion.ts";
import { type Construct, canHold } from "./constructs.ts";
import type { Loss } from "./document.ts";
import { findDifference } from "./equalBlocks.ts";
import { type Item, takeInventory } from "./inventory.ts";

/** Lines that a report names for one construct. The count is not cut. */
const maxLines = 100;

/** Formats whose outputs are read back as text without structure. */
const textOnly: readonly ConversionOutputFormat[] = ["pdf", "txt"];

export interface Comparison {
  readonly before: Root;
  /** The output, read back. */
  readonly after: Root;
  readonly to: ConversionOutputFormat;
  /** Losses that reader and writer know of. */
  readonly losses: readonly Loss[];
}

export function measureFidelity({ before, after, to, losses }: Comparison): ConversionFidelity {
  const lost = textOnly.includes(to) ? [...losses, ...findLostText(before, after, to)] : [...losses, ...findLostItems(before, after)];
  return toFidelity(lost.length === 0 ? 0 : takeInventory(before).length, lost);
}

/** Equal blocks have equal items, so only the items of the other blocks are compared. */
function findLostItems(before: Root, after: Root): readonly Loss[] {
  const different = findDifference(before, after);
  return findMissing(takeInventory(before, different.before), takeInventory(after, different.after));
}

function findLostText(before: Root, after: Root, to: ConversionOutputFormat): readonly Loss[] {
  const items = takeInventory(before);
  const isText = ({ construct }: Item) => construct === "text";
  return [
    ...items.filter((item) => !isText(item) && !canHold(to, item.construct)),
    ...findMissing(items.filter(isText), takeInventory(after)),
  ];
}

/** Returns the items of the first list that the second list does not have. Of equal items, the last ones are missing. */
function findMissing(before: readonly Item[], after: readonly Item[]): readonly Item[] {
  const counts = new Map<string, number>();
  for (const item of after) counts.set(toName(item), (counts.get(toName(item)) ?? 0) + 1);
  return before.filter((item) => {
    const left = counts.get(toName(item)) ?? 0;
    if (left > 0) counts.set(toName(item), left - 1);
    return left === 0;
  });
}

function toName({ construct, key }: Item): string {
  return `${construct}\n${key}`;
}

function toFidelity(items: number, lost: readonly Loss[]): ConversionFidelity {
  const byConstruct = new Map<Construct, Loss[]>();
  for (const loss of lost) {
    const others = byConstruct.get(loss.construct);
    if (others === undefined) byConstruct.set(loss.construct, [loss]);
    else others.push(loss);
  }
  const known = lost.length === 0 ? 1 : Math.max(0, 1 - lost.length / Math.max(items, lost.length));
  return {
    // Rounded down, so that only a report without losses has the score 1.
    score: Math.floor(known * 10_000) / 10_000,
    losses: [...byConstruct].map(([construct, all]) => ({
      construct,
      count: all.length,
      lines: [...new Set(all.flatMap(({ line }) => (line === undefined ? [] : [line])))]
        .sort((one, other) => one - other)
        .slice(0, maxLines),
    })),
  };
}
