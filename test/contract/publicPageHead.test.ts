/** Tests what a public page offers to programs: its head, its entity tag, its preview picture. */
import { createHash } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import type { PublishedPage } from "../../server/domain/publishing/service.ts";
import { createCardRenderer } from "../../server/edge/pages/cardRenderer.ts";
import { toPageText } from "../../server/edge/pages/markdownPage.ts";
import { toCardSvg } from "../../server/edge/pages/pageCardLayout.ts";
import { layoutNumber, toErrorPageHtml, toPageHtml, toPageTag } from "../../server/edge/pages/publicPageHtml.ts";
import { findHtml, textIn } from "../support/htmlTree.ts";
import { arabicPage, chinesePage, publishedPage, richPage } from "../support/samplePages.ts";
import { baseUrl, linksOf, metaOf, show } from "./pageFixture.ts";

describe("head", () => {
  test("[PL53] the head names title, description, address, twins, picture and the article as JSON-LD", async () => {
    const tree = await show(richPage.content, { slug: richPage.slug, title: richPage.title });
    const description = "Why a lighthouse is as tall as it is, with the formula, a small program and a table of real towers.";
    const url = `${baseUrl}/p/${richPage.slug}`;
    expect(Object.fromEntries(metaOf(tree))).toMatchObject({
      description,
      "og:type": "article",
      "og:title": richPage.title,
      "og:description": description,
      "og:url": url,
      "og:image": "https://pictures.example/tower.svg",
      "og:image:alt": expect.stringContaining("lighthouse"),
      "article:modified_time": "2026-11-22T00:00:00.000Z",
      "twitter:card": "summary_large_image",
    });
    expect(linksOf(tree)).toEqual(
      expect.arrayContaining([
        ["canonical", url],
        ["alternate", `${richPage.slug}.md`],
        ["alternate", `${richPage.slug}.json`],
      ]),
    );
    const data = findHtml(tree, "script").find(({ properties }) => properties?.type === "application/ld+json");
    expect(JSON.parse(textIn(data))).toEqual({
      "@context": "https://schema.org",
      "@type": "Article",
      headline: richPage.title,
      description,
      inLanguage: "en",
      image: ["https://pictures.example/tower.svg"],
      dateModified: "2026-11-22T00:00:00.000Z",
      mainEntityOfPage: url,
    });
  });

  test("[PL53] without front matter, the first paragraph describes the page, cut at a word and without footnote marks", async () => {
    const long = `${"word ".repeat(80)}end`;
    const description = String(
      metaOf(await show(`# Benign\n\n> Quote\n\nFirst[^1] **bold**.\n\nSecond.\n\n[^1]: Note.`)).get("description"),
    );
    expect(description).toBe("First bold.");
    expect(String(metaOf(await show(long)).get("description"))).toMatch(/^(word ){30,39}word…$/);
    expect(metaOf(await show("# Only a heading")).has("description")).toBe(false);
    const meta = metaOf(await show("Text"));
    expect([meta.get("og:image"), meta.get("og:image:width")]).toEqual([`${baseUrl}/p/page/card.png`, "1200"]);
  });

  test("[PL55] the entity tag changes with everything that the page shows", async () => {
    const changes: Partial<PublishedPage>[] = [
      { title: "Other" },
      { mode: "snapshot" },
      { contentHash: "1" },
      { revision: 2 },
      { indexable: false },
      { updatedAtMs: 1 },
      { slug: "other" },
    ];
    const tags = [publishedPage, ...changes.map((change) => ({ ...publishedPage, ...change }))].map((each) => toPageTag(each, baseUrl));
    expect(new Set([...tags, toPageTag(publishedPage, "https://other.example")]).size).toBe(changes.length + 2);
  });

  test("[PL55] the number of the layout was increased with the last change of the HTML", async () => {
    const hash = createHash("sha256");
    for (const { slug, title, content } of [richPage, arabicPage, chinesePage]) {
      const html = toPageHtml({ ...publishedPage, slug, title }, await toPageText({ title, markdown: content }), baseUrl);
      // The names of the style and the script are in the entity tag by themselves.
      hash.update(html.replaceAll(/\/assets\/\S+|sha256-\S+/g, ""));
    }
    hash.update(toErrorPageHtml("unknown").replaceAll(/\/assets\/\S+/g, ""));
    // If this fails, increase `layoutNumber` and take over both values.
    expect([layoutNumber, hash.digest("hex").slice(0, 16)]).toEqual([7, "328a426d91088431"]);
  });
});

describe("picture", () => {
  const cards = createCardRenderer();
  afterAll(() => cards.close());

  test("[PL54] the picture of a page is a PNG of 1200 × 630 with the title, drawn once", async () => {
    const text = { title: richPage.title, site: "pages.example" };
    const [card, again] = await Promise.all([cards.draw("ws", text), cards.draw("ws", text)]);
    expect(again).toBe(card);
    expect(await cards.draw("ws", text)).toBe(card);
    const bytes = Buffer.from(card);
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(bytes.byteLength).toBeLessThan(100_000);
    const other = { ...text, title: "Another title" };
    expect(cards.tagOf(other)).not.toBe(cards.tagOf(text));
    expect(Buffer.from(await cards.draw("ws", other)).equals(bytes)).toBe(false);
  });

  test("[PL54] every title fits on the picture, and hostile ones are text", () => {
    for (const title of [
      "A",
      richPage.title,
      "word ".repeat(90),
      "W".repeat(300),
      chinesePage.title.repeat(40),
      '</text><script>"&\ud800',
    ]) {
      const svg = toCardSvg({ title, site: "pages.example" });
      const rows = [...svg.matchAll(/<text [^>]*y="(\d+)" font-size="(\d+)"[^>]*>([^<]*)<\/text>/g)];
      expect(rows.length, title).toBeGreaterThan(1);
      for (const [, y] of rows) expect(Number(y)).toBeLessThan(630 - 40);
      expect(svg).not.toMatch(/<script|\p{Cs}/u);
    }
  });
});
