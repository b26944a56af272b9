/**
 * FontFiles finds the fonts of PDF outputs in their npm packages and loads them. Nothing else reads files in a conversion.
 *
 * The families of Chinese, Japanese and Korean come as about a hundred slices each, with a table of the characters of each
 * slice (`unicode.json`). Only slices that a document needs are loaded. They are variable fonts in WOFF2; a font of each
 * weight is made of them here, because the PDF writer embeds TrueType fonts without axes only.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { create, type Font } from "fontkit";
import subsetFont from "subset-font";

const require = createRequire(import.meta.url);
const folderOf = (name: string): string => dirname(require.resolve(`${name}/package.json`));

export type FontStyle = "normal" | "bold" | "italics" | "bolditalics";

/** One family with its files, or one slice of a family. */
export interface FontFamily {
  readonly name: string;
  readonly styles: Readonly<Record<FontStyle, FontSource>>;
  has(codePoint: number): boolean;
}

export interface FontSource {
  /** Unique among the fonts. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** A family that is loaded when it is first needed. */
export interface LazyFamily {
  covers(codePoint: number): boolean;
  load(): Promise<FontFamily>;
}

function readFont(file: string): FontSource {
  return { name: file, bytes: readFileSync(file) };
}

function open({ bytes }: FontSource): Font {
  return create(bytes) as Font;
}

function staticFamily(name: string, files: Readonly<Record<FontStyle, string>>): FontFamily {
  const load = (style: FontStyle) => readFont(files[style]);
  const styles = { normal: load("normal"), bold: load("bold"), italics: load("italics"), bolditalics: load("bolditalics") };
  const font = open(styles.normal);
  return { name, styles, has: (codePoint) => font.hasGlyphForCodePoint(codePoint) };
}

export function loadSans(): FontFamily {
  const file = (style: string) => join(folderOf("dejavu-fonts-ttf"), "ttf", `DejaVuSans${style}.ttf`);
  return staticFamily("sans", {
    normal: file(""),
    bold: file("-Bold"),
    italics: file("-Oblique"),
    bolditalics: file("-BoldOblique"),
  });
}

export function loadMono(): FontFamily {
  const file = (style: string) => join(folderOf("dejavu-fonts-ttf"), "ttf", `DejaVuSansMono${style}.ttf`);
  return staticFamily("mono", {
    normal: file(""),
    bold: file("-Bold"),
    italics: file("-Oblique"),
    bolditalics: file("-BoldOblique"),
  });
}

export function loadEmoji(): FontFamily {
  const file = (style: string) => join(folderOf("@expo-google-fonts/noto-emoji"), style, `NotoEmoji_${style}.ttf`);
  const [normal, bold] = [file("400Regular"), file("700Bold")];
  return staticFamily("emoji", { normal, bold, italics: normal, bolditalics: bold });
}

export type CjkScript = "sc" | "jp" | "kr";

/** The slices of one family, in the order of the package. */
export function listSlices(script: CjkScript): readonly LazyFamily[] {
  const folder = folderOf(`@fontsource-variable/noto-sans-${script}`);
  const ranges = JSON.parse(readFileSync(join(folder, "unicode.json"), "utf8")) as Readonly<Record<string, string>>;
  return Object.entries(ranges).map(([subset, text]) => toSlice(folder, script, subset.replace(/[[\]]/g, ""), toRanges(text)));
}

type Range = readonly [number, number];

/** Reads `U+4E00-4E10,U+4E20`. */
function toRanges(text: string): readonly Range[] {
  return text.split(",").map((part): Range => {
    const [first = "", last = first] = part.trim().replace(/^U\+/i, "").split("-");
    return [Number.parseInt(first, 16), Number.parseInt(last, 16)];
  });
}

function toSlice(folder: string, script: CjkScript, subset: string, ranges: readonly Range[]): LazyFamily {
  let loading: Promise<FontFamily> | undefined;
  const load = async (): Promise<FontFamily> => {
    const file = join(folder, "files", `noto-sans-${script}-${subset}-wght-normal.woff2`);
    const variable = readFileSync(file);
    const [normal, bold] = [await toWeight(file, variable, 400), await toWeight(file, variable, 700)];
    const font = open(normal);
    return {
      name: `${script}-${subset}`,
      styles: { normal, bold, italics: normal, bolditalics: bold },
      has: (codePoint) => font.hasGlyphForCodePoint(codePoint),
    };
  };
  return {
    covers: (codePoint) => ranges.some(([first, last]) => codePoint >= first && codePoint <= last),
    load: () => {
      loading ??= load();
      return loading;
    },
  };
}

async function toWeight(file: string, variable: Buffer, weight: number): Promise<FontSource> {
  const bytes = await subsetFont(variable, "", { keepAllGlyphs: true, targetFormat: "truetype", variationAxes: { wght: weight } });
  return { name: `${file}-${weight}`, bytes };
}
