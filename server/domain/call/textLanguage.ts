/** TextLanguage finds the language of a text: its front matter may name it, and some scripts belong to one language. */
import { parse } from "yaml";

const maxFrontMatterCharacters = 16 * 1024;
/** Enough text to recognise its script. */
export const sampleCharacters = 4000;

/** Returns the fields of front matter in YAML. Front matter that is too long, wrong or no object has no fields. */
export function readFrontMatter(yaml: string): Readonly<Record<string, unknown>> {
  if (yaml.length > maxFrontMatterCharacters) return {};
  try {
    const fields: unknown = parse(yaml, { maxAliasCount: 10, logLevel: "silent" });
    return typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Language tag (BCP 47) from the front matter, or of the script of the sample if only one language uses it. */
export function findLanguage({ lang }: Readonly<Record<string, unknown>>, sample: string): string | undefined {
  return typeof lang === "string" && isLanguageTag(lang) ? lang : guessLanguage(sample);
}

/** Returns whether the tag has the form of BCP 47, so that any browser and runtime accepts it. */
function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1 && tag.length <= 35;
  } catch {
    return false;
  }
}

/**
 * Chinese, Japanese and Korean share characters whose shapes differ, so a browser needs the language to choose the font.
 * Other scripts with several languages are not guessed.
 */
function guessLanguage(text: string): string | undefined {
  const count = (script: RegExp) => text.match(script)?.length ?? 0;
  const letters = count(/\p{L}/gu);
  const kana = count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  const hangul = count(/\p{Script=Hangul}/gu);
  const han = count(/\p{Script=Han}/gu);
  if (hangul > letters / 2) return "ko";
  if (kana > letters / 10 && kana + han > letters / 2) return "ja";
  return han > letters / 2 ? "zh" : undefined;
}
