/**
 * PageWords has the words that a public page adds to its text, in the languages of texts (`headingWords.ts`).
 *
 * `{date}` is the place of the date. A page in another language has the English words, marked as English.
 */
import { pickByLanguage } from "../../domain/call/headingWords.ts";

export interface PageWords {
  /** Language tag of the words. */
  readonly lang: string;
  readonly live: string;
  /** The time of the last change of a Live page. */
  readonly changed: string;
  /** The time of the text of a Snapshot. */
  readonly frozen: string;
  readonly skip: string;
  readonly empty: string;
  readonly updated: string;
  readonly removed: string;
}

type Row = readonly [live: string, changed: string, frozen: string, skip: string, empty: string, updated: string, removed: string];

const english: Row = [
  "Live",
  "last changed on {date}",
  "As it was on {date}",
  "Skip to the text",
  "Nothing is written here yet.",
  "The page was updated.",
  "The page was taken down.",
];

const rows: Readonly<Record<string, Row>> = {
  ar: ["مباشر", "آخر تغيير في {date}", "كما كانت في {date}", "انتقل إلى النص", "لم يُكتب شيء هنا بعد.", "تم تحديث الصفحة.", "أُزيلت الصفحة."],
  cs: [
    "Živě",
    "naposledy změněno {date}",
    "Stav ke dni {date}",
    "Přejít na text",
    "Zatím tu není nic napsáno.",
    "Stránka byla aktualizována.",
    "Stránka byla odstraněna.",
  ],
  da: [
    "Live",
    "sidst ændret den {date}",
    "Version fra den {date}",
    "Gå til teksten",
    "Her er ikke skrevet noget endnu.",
    "Siden blev opdateret.",
    "Siden blev fjernet.",
  ],
  de: [
    "Live",
    "zuletzt geändert am {date}",
    "Stand vom {date}",
    "Zum Text springen",
    "Hier steht noch nichts.",
    "Die Seite wurde aktualisiert.",
    "Die Seite wurde entfernt.",
  ],
  el: [
    "Ζωντανά",
    "τελευταία αλλαγή στις {date}",
    "Όπως ήταν στις {date}",
    "Μετάβαση στο κείμενο",
    "Δεν έχει γραφτεί τίποτα εδώ ακόμη.",
    "Η σελίδα ενημερώθηκε.",
    "Η σελίδα αφαιρέθηκε.",
  ],
  en: english,
  es: [
    "En directo",
    "último cambio el {date}",
    "Versión del {date}",
    "Ir al texto",
    "Aquí todavía no hay nada escrito.",
    "La página se ha actualizado.",
    "La página se ha retirado.",
  ],
  fa: [
    "زنده",
    "آخرین تغییر: {date}",
    "وضعیت در {date}",
    "رفتن به متن",
    "هنوز چیزی اینجا نوشته نشده است.",
    "صفحه به‌روز شد.",
    "صفحه حذف شد.",
  ],
  fi: [
    "Live",
    "viimeksi muutettu {date}",
    "Tilanne {date}",
    "Siirry tekstiin",
    "Tänne ei ole vielä kirjoitettu mitään.",
    "Sivu päivitettiin.",
    "Sivu poistettiin.",
  ],
  fr: [
    "En direct",
    "dernière modification le {date}",
    "Version du {date}",
    "Aller au texte",
    "Rien n’est encore écrit ici.",
    "La page a été mise à jour.",
    "La page a été retirée.",
  ],
  he: ["חי", "שונה לאחרונה ב־{date}", "כפי שהיה ב־{date}", "דילוג לטקסט", "עדיין לא נכתב כאן דבר.", "הדף עודכן.", "הדף הוסר."],
  hi: [
    "लाइव",
    "अंतिम बदलाव {date} को",
    "{date} की स्थिति",
    "पाठ पर जाएँ",
    "यहाँ अभी कुछ नहीं लिखा गया है।",
    "पृष्ठ अपडेट किया गया।",
    "पृष्ठ हटा दिया गया।",
  ],
  hu: [
    "Élő",
    "utolsó módosítás: {date}",
    "Állapot: {date}",
    "Ugrás a szöveghez",
    "Itt még nincs írva semmi.",
    "Az oldal frissült.",
    "Az oldalt eltávolították.",
  ],
  id: [
    "Langsung",
    "terakhir diubah pada {date}",
    "Keadaan pada {date}",
    "Langsung ke teks",
    "Belum ada tulisan di sini.",
    "Halaman diperbarui.",
    "Halaman dihapus.",
  ],
  it: [
    "Live",
    "ultima modifica il {date}",
    "Versione del {date}",
    "Vai al testo",
    "Qui non è ancora scritto nulla.",
    "La pagina è stata aggiornata.",
    "La pagina è stata rimossa.",
  ],
  ja: [
    "ライブ",
    "最終更新 {date}",
    "{date} 時点の内容",
    "本文へ移動",
    "まだ何も書かれていません。",
    "ページが更新されました。",
    "ページは取り下げられました。",
  ],
  ko: [
    "실시간",
    "마지막 변경 {date}",
    "{date} 기준",
    "본문으로 건너뛰기",
    "아직 아무것도 쓰여 있지 않습니다.",
    "페이지가 업데이트되었습니다.",
    "페이지가 내려졌습니다.",
  ],
  nb: [
    "Live",
    "sist endret {date}",
    "Versjon fra {date}",
    "Gå til teksten",
    "Det er ikke skrevet noe her ennå.",
    "Siden ble oppdatert.",
    "Siden ble fjernet.",
  ],
  nl: [
    "Live",
    "laatst gewijzigd op {date}",
    "Versie van {date}",
    "Naar de tekst",
    "Hier is nog niets geschreven.",
    "De pagina is bijgewerkt.",
    "De pagina is verwijderd.",
  ],
  nn: [
    "Live",
    "sist endra {date}",
    "Versjon frå {date}",
    "Gå til teksten",
    "Det er ikkje skrive noko her enno.",
    "Sida vart oppdatert.",
    "Sida vart fjerna.",
  ],
  no: [
    "Live",
    "sist endret {date}",
    "Versjon fra {date}",
    "Gå til teksten",
    "Det er ikke skrevet noe her ennå.",
    "Siden ble oppdatert.",
    "Siden ble fjernet.",
  ],
  pl: [
    "Na żywo",
    "ostatnia zmiana {date}",
    "Stan z {date}",
    "Przejdź do tekstu",
    "Nic tu jeszcze nie napisano.",
    "Strona została zaktualizowana.",
    "Strona została usunięta.",
  ],
  pt: [
    "Ao vivo",
    "última alteração em {date}",
    "Versão de {date}",
    "Ir para o texto",
    "Ainda não há nada escrito aqui.",
    "A página foi atualizada.",
    "A página foi removida.",
  ],
  ro: [
    "Live",
    "ultima modificare la {date}",
    "Versiunea din {date}",
    "Salt la text",
    "Încă nu este scris nimic aici.",
    "Pagina a fost actualizată.",
    "Pagina a fost retrasă.",
  ],
  ru: [
    "Обновляется",
    "последнее изменение {date}",
    "Версия от {date}",
    "Перейти к тексту",
    "Здесь пока ничего не написано.",
    "Страница обновлена.",
    "Страница снята с публикации.",
  ],
  sv: [
    "Live",
    "senast ändrad den {date}",
    "Version från den {date}",
    "Hoppa till texten",
    "Här är inget skrivet än.",
    "Sidan uppdaterades.",
    "Sidan togs bort.",
  ],
  tr: [
    "Canlı",
    "son değişiklik: {date}",
    "Durum: {date}",
    "Metne geç",
    "Burada henüz bir şey yazılmadı.",
    "Sayfa güncellendi.",
    "Sayfa kaldırıldı.",
  ],
  uk: [
    "Оновлюється",
    "остання зміна {date}",
    "Версія від {date}",
    "Перейти до тексту",
    "Тут ще нічого не написано.",
    "Сторінку оновлено.",
    "Сторінку знято з публікації.",
  ],
  vi: [
    "Trực tiếp",
    "thay đổi lần cuối: {date}",
    "Phiên bản: {date}",
    "Đến phần nội dung",
    "Ở đây chưa có nội dung.",
    "Trang đã được cập nhật.",
    "Trang đã bị gỡ.",
  ],
  zh: ["实时", "最后更改于 {date}", "{date} 的版本", "跳到正文", "这里还没有内容。", "页面已更新。", "页面已撤下。"],
  "zh-Hant": ["即時", "最後變更於 {date}", "{date} 的版本", "跳到正文", "這裡還沒有內容。", "頁面已更新。", "頁面已撤下。"],
};

/** `language`: a tag of BCP 47; undefined or empty if the language of the text is not known. */
export function findPageWords(language: string | undefined): PageWords {
  const row = pickByLanguage(rows, language);
  const [live, changed, frozen, skip, empty, updated, removed] = row ?? english;
  const lang = row === undefined || language === undefined ? "en" : language;
  return { lang, live, changed, frozen, skip, empty, updated, removed };
}
