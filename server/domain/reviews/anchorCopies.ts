/**
 * Moves the anchors of an article to a copy of it, which has the same text in a document of its own.
 *
 * The ids of characters belong to one document, so the offsets decide. If the texts differ by now, an anchor in the part that
 * differs is stored as orphaned, with the context of its present place: it is found like any quote whose characters are
 * gone. This module is pure.
 */
import type * as Y from "yjs";
import type { TextAnchor } from "../../../machines/reviewContext.ts";
import { contextOf } from "./anchorPlaces.ts";
import { toShift } from "./anchorRequests.ts";
import type { FileAnchor, LiveAnchors } from "./anchors.ts";
import { toCharacterIds } from "./characterIds.ts";

/**
 * Returns the anchors of the copy, in the order of `wanted`. `source` has the same anchors at their places in the article.
 */
export function toCopiedAnchors(
  wanted: readonly Pick<FileAnchor, "file">[],
  source: LiveAnchors,
  copy: Y.Doc,
  revision: number,
): readonly TextAnchor[] {
  const copied: TextAnchor[] = source.anchors.map((anchor) => ({ ...anchor, revision, state: "orphaned" }));
  for (const [file, text] of source.texts) {
    const shared = copy.getText(file);
    const target = shared.toString();
    const shift = toShift(text, target);
    const placed: { readonly index: number; readonly start: number; readonly end: number }[] = [];
    for (const [index, anchor] of source.anchors.entries()) {
      if (wanted[index]?.file !== file || anchor.state === "orphaned") continue;
      const { start, end, quote } = anchor;
      const moved = shift(start, end);
      if (moved === undefined) copied[index] = { ...anchor, revision, state: "orphaned" };
      else placed.push({ index, start: moved, end: moved + quote.length });
    }
    const ids = toCharacterIds(
      shared,
      placed.flatMap(({ start, end }) => [start, end - 1]),
    );
    for (const [nth, { index, start, end }] of placed.entries()) {
      const [first, last] = [ids[2 * nth], ids[2 * nth + 1]] as [TextAnchor["first"], TextAnchor["last"]];
      copied[index] = { ...(source.anchors[index] as TextAnchor), ...contextOf(target, start, end), start, end, revision, first, last };
    }
  }
  return copied;
}
