import { describe, expect, it } from "vitest";
import { rankMediaTypes, readContentType } from "./mediaTypes.ts";

describe("media types of a request", () => {
  it("[API8] a body is UTF-8, whatever the form of the charset parameter", () => {
    for (const header of [
      "Application/JSON",
      'application/json; charset="UTF-8"',
      "application/json ;x=y; CharSet = utf-8 ",
      "application/json;",
    ]) {
      expect(readContentType(header)).toBe("application/json");
    }
    for (const charset of ["latin1", '"utf-16"', "", "utf-8 x", '"utf-8']) {
      expect(() => readContentType(`application/json; charset=${charset}`), charset).toThrow(/UTF-8/);
    }
  });

  it("[API8] the longest possible headers are read in time proportional to their length", { timeout: 60_000 }, () => {
    const spaces = " ".repeat(200_000);
    const startedAt = process.cpuUsage();
    for (const parameter of [`charset=${spaces}x y`, `charset${spaces}=x`, `${spaces}charset${spaces}`, `charset=${'"'.repeat(200_000)}`]) {
      try {
        readContentType(`application/json; ${parameter}`);
      } catch {
        // The value may be accepted or refused: the test only needs an answer.
      }
    }
    for (const range of [
      `application/json;q=${spaces}1 ${spaces}x`,
      `application/json${spaces};${spaces}q${spaces}`,
      ",".repeat(200_000),
    ]) {
      try {
        rankMediaTypes(range, ["application/json"]);
      } catch {}
    }
    // CPU time does not grow on a busy machine. One pass takes milliseconds; a pass for each blank would take minutes.
    expect(process.cpuUsage(startedAt).user / 1000).toBeLessThan(10_000);
  });
});
