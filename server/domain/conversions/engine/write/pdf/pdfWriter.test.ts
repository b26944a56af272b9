import { getDocumentProxy } from "unpdf";
import { expect, test } from "vitest";
import { testDocument } from "../../../../../../test/support/documents.ts";
import { convert } from "../../../runConversion.ts";
import type { ConversionCaps } from "../../caps.ts";
import { toVisualOrder } from "./pdfLines.ts";

const caps: ConversionCaps = {
  nodes: 10_000,
  depth: 100,
  outputBytes: 10_000_000,
  archive: { entries: 1, totalBytes: 1, entryBytes: 1, ratio: 1 },
};

const toPdf = (markdown: string) => convert({ from: "markdown", to: "pdf" }, Buffer.from(markdown), caps);

async function readBack(pdf: Uint8Array): Promise<string> {
  return Buffer.from((await convert({ from: "pdf", to: "txt" }, pdf, caps)).bytes).toString("utf8");
}

test.each([
  ["releaseNotes", "shortens the start of a node from four seconds to less than one"],
  ["math", "Greek: α, β, γ, Δ, Ω; Cyrillic: дисперсия"],
  ["chinese", "多人可以同时编辑同一篇文章。每次更改都会先写入磁盘"],
  ["chinese", "東京タワーは1958年に完成しました"],
  ["chinese", "서버가 다시 시작되어도 문서는"],
  ["arabic", "ويحفظ الخادم كل تغيير على القرص قبل إرساله"],
  ["hebrew", "כמה אנשים יכולים לערוך את אותו מאמר באותו הזמן"],
  ["hebrew", "English text with one Hebrew word, שלום, inside of it."],
  ["emoji", "🌈"],
])("[CV6] the PDF of %s has its fonts inside and can be read back: %s", async (name, text) => {
  const { bytes, fidelity } = await toPdf(testDocument(name));
  expect(Buffer.from(bytes).toString("latin1")).toMatch(/\/FontFile[23]? /);
  expect(await readBack(bytes)).toContain(text);
  const unread = fidelity.losses.find(({ construct }) => construct === "text");
  expect(unread).toBeUndefined();
});

/** The words of the first page with their left and right sides in points. A4 is 595 points wide. */
async function readSides(pdf: Uint8Array) {
  const page = await (await getDocumentProxy(new Uint8Array(pdf))).getPage(1);
  const { items } = await page.getTextContent();
  return items.flatMap((item) => {
    if (!("str" in item) || item.str.trim() === "") return [];
    const left = Number(item.transform[4]);
    return [{ text: item.str, left, right: left + item.width }];
  });
}

test("[CV93] a narrow table begins at the side where its text begins", async () => {
  const hebrew = await readSides((await toPdf("| שם | ערך |\n|---|---|\n| אבן | נייר |\n")).bytes);
  const [value, name] = hebrew;
  expect([name?.text, value?.text]).toEqual(["שם", "ערך"]);
  expect(name?.right).toBeGreaterThan(525);
  expect(value?.right).toBeLessThan(name?.left ?? 0);
  expect(value?.left).toBeGreaterThan(400);
  const english = await readSides((await toPdf("| name | value |\n|---|---|\n| stone | paper |\n")).bytes);
  expect(english[0]).toMatchObject({ text: "name" });
  expect(english[0]?.left).toBeLessThan(70);
});

test("[CV94] Arabic ligatures can be searched and read back in the order of their letters", async () => {
  const { bytes, fidelity } = await toPdf("السلام عليكم ولا تنسوا الإسلام والأمل والآن **لأن**.\n");
  expect(fidelity).toEqual({ score: 1, losses: [] });
  expect(await readBack(bytes)).toBe("السلام عليكم ولا تنسوا الإسلام والأمل والآن لأن.\n");
});

test("[CV7] a character that no font has is shown as a replacement and reported with its line", async () => {
  const { bytes, fidelity } = await toPdf("One\n\nTwo ꧁ three\n");
  expect(fidelity.losses).toContainEqual({ construct: "unusual character", count: 1, lines: [3] });
  expect(await readBack(bytes)).toContain("Two \ufffd three");
});

test("[CV106] a paragraph of thousands of words and styles is laid out whole and in its order", async () => {
  const words = Array.from({ length: 6000 }, (_, at) => `w${at}`);
  const { bytes, fidelity } = await toPdf(words.map((word, at) => (at % 3 === 0 ? `*${word}*` : word)).join(" "));
  expect(fidelity.losses).toEqual([]);
  expect((await readBack(bytes)).split(/\s+/).filter((word) => word !== "")).toEqual(words);
});

test("[CV6] runs of a line are ordered by their levels", () => {
  const order = (levels: readonly number[]) => toVisualOrder(levels.map((level, at) => ({ level, at }))).map(({ at }) => at);
  expect(order([0, 0, 0])).toEqual([0, 1, 2]);
  expect(order([1, 1, 1])).toEqual([2, 1, 0]);
  expect(order([1, 2, 2, 1])).toEqual([3, 1, 2, 0]);
  expect(order([0, 1, 2, 1, 0])).toEqual([0, 3, 2, 1, 4]);
});
