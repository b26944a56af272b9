/** Tests the filling of templates: replaced placeholders, refused values, and the time that it takes. */
import { describe, expect, test } from "vitest";
import type { TemplateVariable } from "../../../api/schema/template.ts";
import { fillPlaceholders, toValues } from "./placeholders.ts";

const maxBytes = 1000;
const fill = (content: string, values: Record<string, string>, max = maxBytes) =>
  fillPlaceholders(content, new Map(Object.entries(values)), max);
const variable = (name: string, required = false): TemplateVariable => ({ name, label: name, required });

function findingsOf(variables: readonly TemplateVariable[], given: Record<string, string>): unknown {
  try {
    toValues(variables, given);
    return [];
  } catch (error) {
    return (error as { facts: { errors: { pointer: string; code: string }[] } }).facts.errors.map(({ pointer, code }) => [pointer, code]);
  }
}

describe("placeholders", () => {
  test.each([
    ["# {{name}}", "# Kite"],
    ["{{ name }}{{\tname}}{{name  }}", "KiteKiteKite"],
    ["{{name}}{{name}}", "KiteKite"],
    ["{{{name}}}", "{Kite}"],
    ["\\{{name}} {{name}}", "{{name}} Kite"],
    ["\\{{ name }}", "{{ name }}"],
    ["{{Name}} {{other}} {{ }} {{}} {{na me}} {{\nname}}", "{{Name}} {{other}} {{ }} {{}} {{na me}} {{\nname}}"],
    ["\\{{other}} {{ secrets.KEY }} {% if name %} {name}", "\\{{other}} {{ secrets.KEY }} {% if name %} {name}"],
    ["{{name", "{{name"],
    ["", ""],
  ])("[TM3] declared placeholders are replaced, other braces stay: %j", async (content, expected) => {
    expect(await fill(content, { name: "Kite" })).toBe(expected);
  });

  test("[TM4] a placeholder inside a value is text, and so is a pattern of replacements", async () => {
    expect(await fill("{{a}}-{{b}}", { a: "{{b}}", b: "{{a}}" })).toBe("{{b}}-{{a}}");
    expect(await fill("{{a}}{{b}}", { a: "{{", b: "a}}" })).toBe("{{a}}");
    expect(await fill("{{a}}|{{b}}", { a: "$&$1$$", b: "\\{{a}}" })).toBe("$&$1$$|\\{{a}}");
  });

  test("[TM5] missing and empty required values and unknown names are all reported with their pointer", () => {
    const declared = [variable("a", true), variable("b", true), variable("c")];
    expect(findingsOf(declared, { a: "x", b: "y" })).toEqual([]);
    expect(findingsOf(declared, { a: "", d: "", "e/f": "" })).toEqual([
      ["/variables/a", "required"],
      ["/variables/b", "required"],
      ["/variables/d", "unknown_variable"],
      ["/variables/e~1f", "unknown_variable"],
    ]);
    expect(findingsOf([], { constructor: "x" })).toEqual([["/variables/constructor", "unknown_variable"]]);
    expect(findingsOf([variable("constructor", true)], {})).toEqual([["/variables/constructor", "required"]]);
    expect([...toValues(declared, { a: "x", b: "y" })]).toEqual([
      ["a", "x"],
      ["b", "y"],
      ["c", ""],
    ]);
  });

  test("[TM6] a result above the limit is refused before it is built, counted in bytes of UTF-8", async () => {
    expect(await fill("{{a}}{{a}}", { a: "é".repeat(250) })).toHaveLength(500);
    await expect(fill("{{a}}{{a}}!", { a: "é".repeat(250) })).rejects.toMatchObject({ code: "content_too_large" });
    const bomb = fill("{{a}}".repeat(400_000), { a: "x".repeat(60_000) }, 2 ** 21);
    await expect(bomb).rejects.toMatchObject({ code: "content_too_large" });
  });

  test("[TM7] the longest text is filled in pieces, so that other work goes on meanwhile", async () => {
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    try {
      expect(await fill("{{a}}".repeat(400_000), { a: "xyzuv" }, 2 ** 21)).toBe("xyzuv".repeat(400_000));
      expect(await fill(`{{${" ".repeat(1_000_000)}{{${"\t".repeat(1_000_000)}a`, { a: "x" }, 2 ** 22)).toHaveLength(2_000_005);
    } finally {
      clearInterval(counting);
    }
    expect(turns).toBeGreaterThan(20);
  });
});
