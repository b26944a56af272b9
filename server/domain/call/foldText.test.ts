import { expect, test } from "vitest";
import { foldText } from "./foldText.ts";

test("[SR3] case, accents and ligatures do not distinguish words, and signs of other scripts do", () => {
  for (const [one, other] of [
    ["Café", "cafe"],
    ["cafe\u0301", "café"],
    ["Straße", "STRASSE"],
    ["œuvre", "Oeuvre"],
    ["Łódź", "lodz"],
    ["İstanbul", "istanbul"],
    ["Ёлка", "елка"],
    ["ΟΔΟΣ", "οδός"],
    ["ﬁn", "fin"],
    ["Ｆｕｌｌ", "full"],
    ["مُحَمَّد", "محمد"],
  ] as const) {
    expect(foldText(one)).toBe(foldText(other));
  }
  expect(foldText("か")).not.toBe(foldText("が"));
  expect(foldText("한글")).toBe("한글");
  expect(foldText("मैं")).not.toBe(foldText("म"));
});
