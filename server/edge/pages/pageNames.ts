/**
 * PageNames gives the elements of a public page their accessible names, in the language of the text.
 *
 * Programs that read a page aloud say these names. If the language is not known, the names are English.
 */
import type { Element, Root } from "hast";
import { findHeadingWords, pickByLanguage } from "../../domain/call/headingWords.ts";
import { eachElement, footnoteLabelId, textOf } from "./pageTree.ts";

/** `{name}` is the place of the text of the heading, or of the number of the reference. */
type Row = readonly [code: string, table: string, formula: string, done: string, toDo: string, toHeading: string, toReference: string];

const english: Row = ["Code", "Table", "Formula", "Done", "To do", "Link to “{name}”", "Back to reference {name}"];

const rows: Readonly<Record<string, Row>> = {
  ar: ["شيفرة", "جدول", "صيغة", "منجز", "للإنجاز", "رابط إلى «{name}»", "العودة إلى المرجع {name}"],
  cs: ["Kód", "Tabulka", "Vzorec", "Hotovo", "K vyřízení", "Odkaz na „{name}“", "Zpět na odkaz {name}"],
  da: ["Kode", "Tabel", "Formel", "Udført", "Skal gøres", "Link til “{name}”", "Tilbage til henvisning {name}"],
  de: ["Code", "Tabelle", "Formel", "Erledigt", "Zu erledigen", "Link zu „{name}“", "Zurück zum Verweis {name}"],
  el: ["Κώδικας", "Πίνακας", "Τύπος", "Ολοκληρώθηκε", "Εκκρεμεί", "Σύνδεσμος προς «{name}»", "Επιστροφή στην παραπομπή {name}"],
  en: english,
  es: ["Código", "Tabla", "Fórmula", "Hecho", "Por hacer", "Enlace a «{name}»", "Volver a la referencia {name}"],
  fa: ["کد", "جدول", "فرمول", "انجام‌شده", "برای انجام", "پیوند به «{name}»", "بازگشت به ارجاع {name}"],
  fi: ["Koodi", "Taulukko", "Kaava", "Tehty", "Tehtävä", "Linkki kohtaan ”{name}”", "Takaisin viitteeseen {name}"],
  fr: ["Code", "Tableau", "Formule", "Fait", "À faire", "Lien vers « {name} »", "Retour à l’appel de note {name}"],
  he: ["קוד", "טבלה", "נוסחה", "בוצע", "לביצוע", "קישור אל „{name}”", "חזרה להפניה {name}"],
  hi: ["कोड", "तालिका", "सूत्र", "पूरा हुआ", "करना है", "“{name}” का लिंक", "संदर्भ {name} पर वापस"],
  hu: ["Kód", "Táblázat", "Képlet", "Kész", "Teendő", "Hivatkozás erre: „{name}”", "Vissza a(z) {name}. hivatkozáshoz"],
  id: ["Kode", "Tabel", "Rumus", "Selesai", "Belum selesai", "Tautan ke “{name}”", "Kembali ke rujukan {name}"],
  it: ["Codice", "Tabella", "Formula", "Fatto", "Da fare", "Link a «{name}»", "Torna al riferimento {name}"],
  ja: ["コード", "表", "数式", "完了", "未完了", "「{name}」へのリンク", "参照 {name} に戻る"],
  ko: ["코드", "표", "수식", "완료", "할 일", "‘{name}’ 링크", "참조 {name}(으)로 돌아가기"],
  nb: ["Kode", "Tabell", "Formel", "Gjort", "Å gjøre", "Lenke til «{name}»", "Tilbake til henvisning {name}"],
  nl: ["Code", "Tabel", "Formule", "Gedaan", "Te doen", "Link naar ‘{name}’", "Terug naar verwijzing {name}"],
  nn: ["Kode", "Tabell", "Formel", "Gjort", "Å gjere", "Lenkje til «{name}»", "Tilbake til tilvising {name}"],
  no: ["Kode", "Tabell", "Formel", "Gjort", "Å gjøre", "Lenke til «{name}»", "Tilbake til henvisning {name}"],
  pl: ["Kod", "Tabela", "Wzór", "Zrobione", "Do zrobienia", "Odnośnik do „{name}”", "Powrót do odsyłacza {name}"],
  pt: ["Código", "Tabela", "Fórmula", "Feito", "A fazer", "Link para “{name}”", "Voltar à referência {name}"],
  ro: ["Cod", "Tabel", "Formulă", "Gata", "De făcut", "Link către „{name}”", "Înapoi la referința {name}"],
  ru: ["Код", "Таблица", "Формула", "Выполнено", "Не выполнено", "Ссылка на «{name}»", "Назад к сноске {name}"],
  sv: ["Kod", "Tabell", "Formel", "Klart", "Att göra", "Länk till ”{name}”", "Tillbaka till hänvisning {name}"],
  tr: ["Kod", "Tablo", "Formül", "Yapıldı", "Yapılacak", "“{name}” bağlantısı", "{name} numaralı göndermeye dön"],
  uk: ["Код", "Таблиця", "Формула", "Виконано", "Не виконано", "Посилання на «{name}»", "Назад до посилання {name}"],
  vi: ["Mã", "Bảng", "Công thức", "Đã xong", "Cần làm", "Liên kết đến “{name}”", "Quay lại chỗ dẫn {name}"],
  zh: ["代码", "表格", "公式", "已完成", "待办", "链接到“{name}”", "返回引用 {name}"],
  "zh-Hant": ["程式碼", "表格", "公式", "已完成", "待辦", "連結到「{name}」", "返回引用 {name}"],
};

const isHeading = (element: Element): boolean => /^h[1-6]$/.test(element.tagName);
const hasClass = ({ properties }: Element, name: string): boolean =>
  Array.isArray(properties.className) && properties.className.includes(name);

/** `language`: a tag of BCP 47; undefined if the language of the text is not known. */
export function nameElements(tree: Root, language: string | undefined): void {
  const [code, table, formula, done, toDo, toHeading, toReference] = pickByLanguage(rows, language) ?? english;
  const footnotes = findHeadingWords(language)?.footnotes;
  eachElement(tree, (element) => {
    const { tagName, properties } = element;
    if (tagName === "pre") properties.ariaLabel = code;
    else if (tagName === "div" && hasClass(element, "table")) properties.ariaLabel = table;
    else if (tagName === "div" && hasClass(element, "formula")) properties.ariaLabel = formula;
    else if (tagName === "input") properties.ariaLabel = properties.checked ? done : toDo;
    else if (properties.dataFootnoteBackref !== undefined) {
      properties.ariaLabel = toReference.replace("{name}", () => String(properties.ariaLabel));
    } else if (properties.id === footnoteLabelId && footnotes !== undefined) element.children = [{ type: "text", value: footnotes }];
    else if (isHeading(element)) nameAnchor(element, toHeading);
  });
}

function nameAnchor(heading: Element, toHeading: string): void {
  const anchor = heading.children.find((child) => child.type === "element" && hasClass(child, "anchor"));
  if (anchor?.type === "element") anchor.properties.ariaLabel = toHeading.replace("{name}", () => textOf(heading).trim());
}
