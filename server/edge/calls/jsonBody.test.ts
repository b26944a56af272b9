import { describe, expect, it } from "vitest";
import { AppError } from "../../../api/schema/error.ts";
import { readJson } from "./jsonBody.ts";

function outcome(text: string, maxMembers = 10): unknown {
  try {
    return readJson(Buffer.from(text), maxMembers);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [error.code, error.facts.errors?.[0]?.code];
  }
}

describe("the bytes of a JSON body", () => {
  it("[API9] the allowed number of names and items is read, in any form", () => {
    const ten = Array.from({ length: 10 }, (_, at) => at);
    expect(outcome(JSON.stringify(ten))).toEqual(ten);
    const named = Object.fromEntries(ten.map((at) => [`name ${at}`, at]));
    expect(outcome(JSON.stringify(named))).toEqual(named);
    const nested = `${"[".repeat(11)}${"]".repeat(11)}`;
    expect(outcome(nested)).toEqual(JSON.parse(nested));
  });

  it("[API9] too many names and items are refused before parsing, even in malformed JSON", () => {
    const tooMany = ["validation_failed", "too_big"];
    expect(outcome(JSON.stringify(Array.from({ length: 11 })))).toEqual(tooMany);
    expect(outcome(`${"[".repeat(12)}${"]".repeat(12)}`)).toEqual(tooMany);
    expect(outcome("[".repeat(5_000_000), 10_000)).toEqual(tooMany);
    expect(outcome('{"a":'.repeat(1_000_000), 10_000)).toEqual(tooMany);
    expect(outcome(",".repeat(5_000_000), 10_000)).toEqual(tooMany);
  });

  it("[API9] brackets and commas inside strings do not count as structure", () => {
    for (const text of [
      "[[[[[[[[[[[[[{{{{",
      ",,,,,,,,,,,,,,,,,",
      '\\",,,,,,,,,,,,,,\\',
      '\\\\",[[[[[[[[[[[[[[[',
      '"'.repeat(40),
      "\\".repeat(41),
    ]) {
      expect(outcome(JSON.stringify([text, { [text]: text }]))).toEqual([text, { [text]: text }]);
    }
    expect(outcome(`["${"\\".repeat(1_000_001)}"`, 10)).toEqual(["malformed_json", undefined]);
    expect(outcome(`["${",".repeat(100)}`)).toEqual(["malformed_json", undefined]);
  });
});
