import { describe, expect, it } from "vitest";
import { pickCoding, rankMediaTypes, readContentType } from "./mediaTypes.ts";

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
      pickCoding(range, ["br", "gzip"]);
    }
    // CPU time does not grow on a busy machine. One pass takes milliseconds; a pass for each blank would take minutes.
    expect(process.cpuUsage(startedAt).user / 1000).toBeLessThan(10_000);
  });

  it.each([
    [undefined, "identity"],
    ["", "identity"],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip", "gzip"],
    ["GZIP;Q=0.5 , deflate", "gzip"],
    ["br;q=0.2, gzip;q=0.8", "gzip"],
    ["br;q=0.5, gzip;q=0.5", "br"],
    ["br;q=0, gzip;q=0.001", "gzip"],
    ["br;q=0.000, gzip;q=0", "identity"],
    ["deflate, zstd", "identity"],
    ["*", "br"],
    ["*;q=0.3, br;q=0", "gzip"],
    ["*;q=0", "identity"],
    ["identity, br;q=0.9", "identity"],
    ["identity;q=0.5, br;q=0.5", "br"],
    ["identity;q=0, gzip", "gzip"],
    ["identity;q=0", "identity"],
    ["brotli, x-br, gzipped", "identity"],
  ])("[WA4] Accept-Encoding %j gives the form %s", (header, coding) => {
    expect(pickCoding(header, ["br", "gzip"])).toBe(coding);
    expect(pickCoding(header, [])).toBe("identity");
  });
});
