import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../../../api/schema/error.ts";
import { parseJson } from "./jsonBody.ts";
import { findJsonFault } from "./jsonFault.ts";

function refusalOf(text: string): string {
  try {
    return JSON.stringify(parseJson(text, "body"));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "malformed_json") throw error;
    return error.message;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const aValue = "a value (an object, a list, a string in double quotes, a number, true, false or null)";

describe("a text that is not JSON", () => {
  it("[API8] a refusal names line and column of the first fault, and what is expected there", () => {
    for (const [text, detail] of [
      ["abc", `The body is not valid JSON: at line 1, column 1, ${aValue} is expected.`],
      ["{'a': 1}", "The body is not valid JSON: at line 1, column 2, a name in double quotes or '}' is expected."],
      ['{\n  "a": 1,\n}', "The body is not valid JSON: at line 3, column 1, a name in double quotes after the comma is expected."],
      ['{"a" 1}', "The body is not valid JSON: at line 1, column 6, a colon after the name is expected."],
      ['{"a": 1\n "b": 2}', "The body is not valid JSON: at line 2, column 2, a comma or '}' is expected."],
      ['["a", ]', `The body is not valid JSON: at line 1, column 7, ${aValue} is expected.`],
      ['{"a": "one\ntwo"}', expect.stringMatching(/at line 1, column 11, an escape such as \\n/)],
      ['{"a": "\\x"}', expect.stringMatching(/at line 1, column 8, an escape of JSON/)],
      ['{"a": 1', "The body is not complete: it ends at line 1, column 8, where a comma or '}' is expected."],
      ['{"a": "one', "The body is not complete: it ends at line 1, column 11, where a double quote that ends the string is expected."],
      ["{} {}", "The body is not valid JSON: at line 1, column 4, the end is expected."],
      ["", "The body is empty, where JSON is expected."],
      [" \n", "The body is empty, where JSON is expected."],
    ] as const) {
      expect(refusalOf(text), text).toEqual(detail);
    }
  });

  it("[API8] a fault is found in exactly the texts that the parser of the engine refuses", () => {
    const tokens = [
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      '"a"',
      "\\",
      "\\u0041",
      "\n",
      " ",
      "0",
      "1",
      "-",
      ".",
      "e",
      "true",
      "nul",
      "é",
      "\u2028",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...tokens), { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        expect(findJsonFault(text) === undefined, JSON.stringify(text)).toBe(isJson(text));
      }),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom("", ...tokens), (json, place, token) => {
        const at = place % (json.length + 1);
        const text = json.slice(0, at) + token + json.slice(at + 1);
        expect(findJsonFault(text) === undefined, text).toBe(isJson(text));
        expect(findJsonFault(json)).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });

  it("[API8] deep and long texts are examined without recursion", () => {
    expect(findJsonFault("[".repeat(1_000_000))).toMatchObject({ at: 1_000_000 });
    expect(findJsonFault(`["${"a".repeat(5_000_000)}`)).toMatchObject({ at: 5_000_002 });
  });
});
