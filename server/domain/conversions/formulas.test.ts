import fc from "fast-check";
import { expect, test } from "vitest";
import { lostIn, runConversion, toText } from "../../../test/support/conversionRuns.ts";
import { hostileFormulas } from "../../../test/support/hostileMarkdown.ts";
import { parseMarkdownWithFormulas } from "../call/parseFormulas.ts";

const energy = "The energy $E=mc^2$ and, in a list:\n\n- $\\alpha_1 * \\alpha_2$\n\n$$\n\\frac{1}{2}\n\\sum_{i} x_i\n$$\n";

test("[CV107] HTML shows formulas as MathML with their source, and Markdown gets the source back", async () => {
  const html = await runConversion("markdown", "html", energy);
  expect(html.fidelity).toEqual({ score: 1, losses: [] });
  const text = toText(html);
  expect(text).toContain('<annotation encoding="application/x-tex">E=mc^2</annotation>');
  expect(text).toContain("<msup>");
  expect(text).toMatch(/<math display="block"[^>]*>/);
  expect(text.match(/<math/g)).toHaveLength(3);
  const back = await runConversion("html", "markdown", html.bytes);
  expect(back.fidelity).toEqual({ score: 1, losses: [] });
  expect(toText(back)).toBe(energy);
});

test("[CV107] a code block of the language math is a formula", async () => {
  const html = await runConversion("markdown", "html", "```math\nx^2\n```\n");
  expect(html.fidelity).toEqual({ score: 1, losses: [] });
  expect(toText(html)).toContain("<msup>");
});

test("[CV108] DOCX, PDF and plain text show the source of formulas, and the report has their lines", async () => {
  const formulas = { construct: "formula", count: 3, lines: [1, 3, 5] };
  for (const to of ["docx", "pdf", "txt"] as const) {
    const { fidelity } = await runConversion("markdown", to, energy);
    expect(fidelity.losses, to).toContainEqual(formulas);
    expect(lostIn(fidelity).text ?? 0, to).toBe(0);
  }
  const txt = toText(await runConversion("markdown", "txt", energy));
  expect(txt).toBe("The energy $E=mc^2$ and, in a list:\n\n- $\\alpha_1 * \\alpha_2$\n\n\\frac{1}{2}\n\\sum_{i} x_i\n");
});

test("[CV108] a formula comes back from DOCX and JSON with its source", async () => {
  const json = await runConversion("markdown", "json", energy);
  expect(json.fidelity).toEqual({ score: 1, losses: [] });
  expect(toText(await runConversion("json", "markdown", json.bytes))).toBe(energy);
  const docx = await runConversion("markdown", "docx", energy);
  const back = toText(await runConversion("docx", "markdown", docx.bytes));
  expect(back).toBe(energy.replace(/\$\$\n([\s\S]*)\n\$\$/, (_, source: string) => `\`\`\`math\n${source}\n\`\`\``));
});

test("[CV107] a wrong or too long formula stays visible as its source, and the report of HTML has its line", async () => {
  const { bytes, fidelity } = await runConversion("markdown", "html", `One $x^2$.\n\nTwo $\\nothing{$.\n\n$$\n${"x+".repeat(3000)}x\n$$\n`);
  expect(fidelity.losses).toEqual([{ construct: "formula", count: 2, lines: [3, 5] }]);
  expect(toText({ bytes })).toContain('<code class="language-math">\\nothing{</code>');
});

test("[CV107] hostile formulas bring no script, link, style or picture into HTML", async () => {
  for (const formula of hostileFormulas) {
    const html = toText(await runConversion("markdown", "html", `$$\n${formula}\n$$\n`));
    const tags = html.replaceAll(/>[^<]*/g, ">");
    expect(tags).not.toMatch(/<(?:script|img|a|style)\b|\sstyle=|href=|\son\w+=/i);
  }
});

test.each([
  ["$5 and $10 are prices", "$5 and $10 are prices"],
  ["$x$ is text", "\\$x$ is text"],
  ["a$b$ and $ c$", "a$b$ and $ c$"],
  ["$$ is two", "\\$\\$ is two"],
])("[CV109] the text %s is no formula in Markdown", async (text, markdown) => {
  const written = toText(await runConversion("txt", "markdown", text));
  expect(written.trim()).toBe(markdown);
  expect(toText(await runConversion("markdown", "txt", written)).trim()).toBe(text);
  expect(toText(await runConversion("markdown", "html", written))).not.toContain("<math");
});

test("[CV109] any text and any formula come back from Markdown as they were", async () => {
  const piece = fc.oneof(
    fc.record({ type: fc.constant("text"), value: fc.stringMatching(/^[a$ 5*\\é.]{1,8}$/) }),
    fc.record({ type: fc.constant("inlineMath"), value: fc.constantFrom("x", "x^2", "a $ b", " y ", "$", "\\frac{1}{2}", "5") }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async (pieces) => {
      const children = [{ type: "text", value: "Begin. " }, ...pieces, { type: "text", value: " end." }];
      const tree = { type: "root", children: [{ type: "paragraph", children }] };
      const written = await runConversion("json", "markdown", JSON.stringify(tree));
      const [paragraph] = (await parseMarkdownWithFormulas(toText(written))).children;
      const found = (paragraph?.type === "paragraph" ? paragraph.children : []).flatMap((node) =>
        node.type === "inlineMath" ? [node.value.trim()] : [],
      );
      // After a letter or another formula the source becomes code.
      const expected = children.flatMap(({ type, value }, at) => {
        const before = children[at - 1];
        return type === "inlineMath" && before?.type === "text" && !/[a5é]$/.test(before.value) ? [value.trim()] : [];
      });
      expect(found).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});
