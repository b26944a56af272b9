/** Tests the pages at the `type` addresses of problems over a real host, parsed by a conforming HTML parser. */
import { STATUS_CODES } from "node:http";
import { describe, expect, it } from "vitest";
import { contract } from "../../api/contract/contract.ts";
import { errorTable } from "../../api/schema/error.ts";
import { errorTexts, resultCodes } from "../../api/schema/errorTexts.ts";
import { hrefsIn, parseHtml, textIn, walkHtml } from "../support/htmlTree.ts";
import { useSurface } from "./surfaceFixture.ts";

const surface = useSurface();
const codes = [...errorTable.keys(), ...resultCodes];

async function open(path: string) {
  const response = await surface.fetch("GET", path);
  const html = await response.text();
  const tree = parseHtml(html);
  const find = (tagName: string) => [...walkHtml(tree)].filter((node) => node.tagName === tagName);
  const main = find("main")[0];
  if (main === undefined) throw new Error(`${path} has no main`);
  return { status: response.status, headers: response.headers, html, find, main, text: textIn(main) };
}

describe("problem pages", () => {
  it("[API34] no two codes share a sentence about what happened or about what to do", () => {
    expect(Object.keys(errorTexts).sort()).toEqual([...codes].sort());
    const sentences = Object.values(errorTexts).flatMap(({ happened, remedy }) => [happened, remedy]);
    expect(new Set(sentences).size).toBe(2 * codes.length);
    for (const sentence of sentences) {
      expect(sentence).toMatch(/^[A-Z`][^\n]{29,}\.$/);
      expect((sentence.match(/`/g) ?? []).length % 2, sentence).toBe(0);
    }
  });

  it("[API34] every operation that a text names exists in the contract", () => {
    const exists = new Set(Object.values(contract).flatMap((group) => Object.values(group).map(({ method, path }) => `${method} ${path}`)));
    const texts = Object.values(errorTexts).flatMap(({ happened, remedy }) => [happened, remedy]);
    const named = texts.flatMap((text) => [...text.matchAll(/\b(?:GET|PUT|POST|PATCH|DELETE) \/[^\s`]*/g)].map(([operation]) => operation));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((operation) => !exists.has(operation))).toEqual([]);
  });

  it("[API34] each code has a page with its status, the cause and the remedy", async () => {
    for (const code of codes) {
      const { status, text, find } = await open(`/problems/${code}`);
      expect(status, code).toBe(200);
      const { happened, remedy } = errorTexts[code];
      expect(text).toContain(happened.replaceAll("`", ""));
      expect(text).toContain(remedy.replaceAll("`", ""));
      expect(textIn(find("h1")[0])).not.toContain("_");
      const row = errorTable.get(code as never);
      expect(text).toContain(row === undefined ? "only inside results" : `${row.status} ${STATUS_CODES[row.status]}`);
      if (row?.close !== undefined) expect(text).toContain(String(row.close));
    }
  });

  it("[API34] the list shows every code once, under its status, with the cause", async () => {
    const { main, text } = await open("/problems");
    const hrefs = hrefsIn(main).filter((href) => href.startsWith("problems/"));
    expect(hrefs).toEqual(codes.map((code) => `problems/${code}`));
    for (const code of codes) expect(text).toContain(errorTexts[code].happened.replaceAll("`", ""));
  });

  it("[API34] an unknown code is a page that links to the list", async () => {
    for (const path of ["/problems/nothing", "/problems/__proto__", "/problems/constructor", "/problems/%3Cscript%3E"]) {
      const { status, main, find } = await open(path);
      expect(status, path).toBe(404);
      expect(hrefsIn(main)).toContain("../problems");
      expect(find("script")).toEqual([]);
    }
  });

  it("[API35] problem pages allow only their own style file and fit both colour schemes and 390 px", async () => {
    const styles = new Set<string>();
    for (const path of ["/problems", "/problems/not_found", "/problems/nothing"]) {
      const { headers, html, find } = await open(path);
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(html).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=|(?:src|href)="(?:\w+:|\/\/)/);
      const metas = Object.fromEntries(find("meta").map(({ properties }) => [properties?.name, properties?.content]));
      expect(metas).toMatchObject({ viewport: "width=device-width, initial-scale=1", "color-scheme": "light dark" });
      const [href = ""] = find("link").map(({ properties }) => String(properties?.href));
      styles.add(new URL(href, `https://svc.example${path}`).pathname);
    }
    expect(styles.size).toBe(1);
    const [path = ""] = styles;
    const style = await surface.fetch("GET", path);
    expect(style.headers.get("content-type")).toBe("text/css; charset=utf-8");
    const css = await style.text();
    expect(css).toContain("@media (prefers-color-scheme: dark)");
    expect(css).not.toMatch(/url\(|@import/);
    // A long word breaks instead of making a page of 390 px wider.
    expect(css).toMatch(/overflow-wrap: (anywhere|break-word)/);
    expect(css).not.toMatch(/min-width: *[1-9]/);
  });
});
