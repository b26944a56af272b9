import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { deriveSecrets, SealError } from "./secrets.ts";

const one = randomBytes(32);
const two = randomBytes(32);
const bytes = Buffer.from("whsec_something to keep");

describe("derived secrets", () => {
  it("[AU29] a sealed value opens for its own record and purpose only", () => {
    const secrets = deriveSecrets([one]);
    const sealed = secrets.seal("webhook/whk_1", bytes);
    expect(Buffer.from(secrets.open("webhook/whk_1", sealed))).toEqual(bytes);
    expect(() => secrets.open("webhook/whk_2", sealed)).toThrow(SealError);
    expect(() => secrets.open("other/whk_1", sealed)).toThrow(SealError);
  });

  it("[AU29] a sealed value with any changed byte does not open", () => {
    const secrets = deriveSecrets([one]);
    const sealed = Buffer.from(secrets.seal("a/b", bytes), "base64url");
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8((changed[at] ?? 0) ^ 1, at);
      expect(() => secrets.open("a/b", changed.toString("base64url"))).toThrow(SealError);
    }
    expect(() => secrets.open("a/b", sealed.subarray(0, 20).toString("base64url"))).toThrow(SealError);
    expect(() => secrets.open("a/b", "")).toThrow(SealError);
  });

  it("[AU29] the first key seals and every key opens", () => {
    const before = deriveSecrets([one]);
    const rotated = deriveSecrets([two, one]);
    expect(Buffer.from(rotated.open("a/b", before.seal("a/b", bytes)))).toEqual(bytes);
    expect(() => before.open("a/b", rotated.seal("a/b", bytes))).toThrow(SealError);
    expect(Buffer.from(deriveSecrets([two]).open("a/b", rotated.seal("a/b", bytes)))).toEqual(bytes);
  });

  it("[AU29] the same key gives the same secrets, and all of them differ", () => {
    const [first, again] = [deriveSecrets([one]), deriveSecrets([one])];
    expect(again.pageKey).toEqual(first.pageKey);
    expect(again.jwtSeeds).toEqual(first.jwtSeeds);
    expect(again.ticketKeys).toEqual(first.ticketKeys);
    const all = [one, first.pageKey, ...first.jwtSeeds, ...first.ticketKeys].map((key) => Buffer.from(key).toString("hex"));
    expect(new Set(all).size).toBe(4);
  });

  it("[AU29] sealing the same bytes twice gives two values", () => {
    const secrets = deriveSecrets([one]);
    expect(secrets.seal("a/b", bytes)).not.toBe(secrets.seal("a/b", bytes));
  });

  it("[AU29] a missing key and a key of another length are refused", () => {
    expect(() => deriveSecrets([])).toThrow(/at least one/);
    expect(() => deriveSecrets([one, randomBytes(16)])).toThrow(/32 bytes/);
  });
});
