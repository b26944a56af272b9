/** Numbering collects the lists of a DOCX file. Each ordered list is a definition of its own, so it counts from its start. */
import { AlignmentType, type INumberingOptions, LevelFormat } from "docx";
import { indentTwips } from "../../styles.ts";

export interface Numbering {
  /** Returns the reference of the list's definition. `level`: number of lists around the list. */
  add(isOrdered: boolean, start: number, level: number): string;
  config(): INumberingOptions["config"];
}

/** Word has nine levels. */
export const maxListLevel = 8;

const bullets = ["•", "◦", "▪"];
const levels = Array.from({ length: maxListLevel + 1 }, (_, level) => level);

export function createNumbering(): Numbering {
  const ordered: { readonly reference: string; readonly start: number; readonly level: number }[] = [];
  const style = (level: number) => ({ paragraph: { indent: { left: indentTwips * (level + 1), hanging: 360 } } });
  return {
    add(isOrdered, start, level) {
      if (!isOrdered) return "bullets";
      const reference = `ordered-${ordered.length + 1}`;
      ordered.push({ reference, start, level: Math.min(level, maxListLevel) });
      return reference;
    },
    config: () => [
      {
        reference: "bullets",
        levels: levels.map((level) => ({
          level,
          format: LevelFormat.BULLET,
          text: bullets[level % bullets.length] ?? "•",
          alignment: AlignmentType.LEFT,
          style: style(level),
        })),
      },
      // The list is at one level; definitions of the others would be nine tenths of the file.
      ...ordered.map(({ reference, start, level }) => ({
        reference,
        levels: [{ level, format: LevelFormat.DECIMAL, text: `%${level + 1}.`, alignment: AlignmentType.LEFT, start, style: style(level) }],
      })),
    ],
  };
}
