import { expect, test } from "vitest";
import { toTitlePrefixes, toTitleSearch } from "./titleWords.ts";

const composed = "Café über Straße".normalize("NFC");
const decomposed = composed.normalize("NFD");
const plain = "CAFE uber STRASSE";
const forms = [composed, decomposed, plain];

test("[SR16] titles and queries match in both directions, with or without accents, composed or not", () => {
  for (const title of forms) {
    for (const query of [...forms, "Caf", "CAFÉ", "cafe\u0301", "ÜBER stra", "straß"]) {
      const { prefixes, matches } = toTitleSearch(query);
      expect(matches(title), `${query} in ${title}`).toBe(true);
      // Each prefix that the list looks up is a row of the index.
      expect(toTitlePrefixes(title)).toEqual(expect.arrayContaining([...prefixes]));
    }
  }
});

test("[SR16] signs that distinguish words in their script are not folded away", () => {
  expect(toTitleSearch("か").matches("が")).toBe(false);
  expect(toTitleSearch("cafes").matches("Café")).toBe(false);
});
