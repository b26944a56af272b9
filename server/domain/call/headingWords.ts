/** HeadingWords has the headings that the server itself adds to a text, in the languages of texts. */

export interface HeadingWords {
  readonly contents: string;
  readonly footnotes: string;
}

/** By language, and for Chinese in traditional characters also by script. */
const words: Readonly<Record<string, readonly [contents: string, footnotes: string]>> = {
  ar: ["المحتويات", "الحواشي"],
  cs: ["Obsah", "Poznámky pod čarou"],
  da: ["Indhold", "Fodnoter"],
  de: ["Inhalt", "Fußnoten"],
  el: ["Περιεχόμενα", "Υποσημειώσεις"],
  en: ["Contents", "Footnotes"],
  es: ["Contenido", "Notas al pie"],
  fa: ["فهرست", "پانویس‌ها"],
  fi: ["Sisällys", "Alaviitteet"],
  fr: ["Sommaire", "Notes de bas de page"],
  he: ["תוכן העניינים", "הערות שוליים"],
  hi: ["विषय-सूची", "पाद-टिप्पणियाँ"],
  hu: ["Tartalom", "Lábjegyzetek"],
  id: ["Daftar isi", "Catatan kaki"],
  it: ["Indice", "Note a piè di pagina"],
  ja: ["目次", "脚注"],
  ko: ["목차", "각주"],
  nb: ["Innhold", "Fotnoter"],
  nl: ["Inhoud", "Voetnoten"],
  nn: ["Innhald", "Fotnotar"],
  no: ["Innhold", "Fotnoter"],
  pl: ["Spis treści", "Przypisy"],
  pt: ["Índice", "Notas de rodapé"],
  ro: ["Cuprins", "Note de subsol"],
  ru: ["Содержание", "Примечания"],
  sv: ["Innehåll", "Fotnoter"],
  tr: ["İçindekiler", "Dipnotlar"],
  uk: ["Зміст", "Примітки"],
  vi: ["Mục lục", "Chú thích"],
  zh: ["目录", "脚注"],
  "zh-Hant": ["目錄", "註腳"],
};

/** Returns the entry of a language: a tag of BCP 47. Undefined if the language is not known or has no entry. */
export function pickByLanguage<Entry>(entries: Readonly<Record<string, Entry>>, language: string | undefined): Entry | undefined {
  if (language === undefined || language === "") return undefined;
  const { language: code, script } = new Intl.Locale(language).maximize();
  return entries[`${code}-${script}`] ?? entries[code];
}

/** `language`: a tag of BCP 47. Undefined: the words of the language are not known. */
export function findHeadingWords(language: string | undefined): HeadingWords | undefined {
  const found = pickByLanguage(words, language);
  return found === undefined ? undefined : { contents: found[0], footnotes: found[1] };
}
