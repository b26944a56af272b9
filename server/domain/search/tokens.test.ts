import { expect, test } from "vitest";
import { toComposed, toIndexedText, toTokens } from "./tokens.ts";

test("[SR3] text becomes folded words, and scripts without spaces become pairs of characters", () => {
  expect(toIndexedText("The Café, re-opened: 3 o'clock!")).toBe("the cafe re opened 3 o clock");
  expect(toIndexedText("東京都")).toBe("東京 京都 都");
  expect(toIndexedText("iPhone発売 2026年")).toBe("iphone 発売 売 2026 年");
  expect(toIndexedText("타워가 높다")).toBe("타워 워가 가 높다 다");
  expect(toIndexedText("ภาษาไทย")).toBe("ภา าษ ษา าไ ไท ทย ย");
  expect(toIndexedText("\u{20BB7}野家")).toBe("\u{20BB7}野 野家 家");
  expect(toIndexedText("<!-- #$% -->")).toBe("");
});

test("[SR3] text that is stored in decomposed form has the same words", () => {
  for (const text of ["Café", "한글 문서", "がぎぐ", "Å"]) expect(toIndexedText(text.normalize("NFD"))).toBe(toIndexedText(text));
});

test("[SR9] every token knows its place in the text", () => {
  const text = toComposed("Das Straßen-Café in 東京都, \u{20BB7}野.");
  const places = [...toTokens(text)].map(({ text: token, start, end }) => [token, text.slice(start, end)]);
  expect(places).toEqual([
    ["das", "Das"],
    ["strassen", "Straßen"],
    ["cafe", "Café"],
    ["in", "in"],
    ["東京", "東京"],
    ["京都", "京都"],
    ["都", "都"],
    ["\u{20BB7}野", "\u{20BB7}野"],
    ["野", "野"],
  ]);
});

test("[SR5] a word of any length and a text of two MiB are split in linear time", () => {
  expect(toIndexedText("a".repeat(100_000))).toBe("a".repeat(64));
  const words = toIndexedText("word ".repeat(400_000)).split(" ");
  expect(words).toHaveLength(400_000);
});
