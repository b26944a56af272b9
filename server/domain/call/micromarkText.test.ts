import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";
import { expect, test } from "vitest";
import { testDocuments } from "../../../test/support/documents.ts";
import { installLinearText } from "./micromarkText.ts";

const processor = unified().use(remarkParse).use(remarkGfm);

test("[CV106] joined data gives the same trees, and a paragraph of 1 MB is parsed", async () => {
  const texts = [
    ...testDocuments.map(({ markdown }) => markdown),
    "a *b* c_d_ [e f](g) h@example.com\nwww.example.com `i` j  \nk\\\nl".repeat(20),
  ];
  const before = texts.map((text) => processor.parse(text));
  await installLinearText();
  expect(texts.map((text) => processor.parse(text))).toEqual(before);
  const { children } = processor.parse("Some words of a paragraph that goes on and on.\n".repeat(20_000));
  expect(children).toHaveLength(1);
}, 120_000);
