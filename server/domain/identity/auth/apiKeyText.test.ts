import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createApiKeyText, isApiKeyText, toApiKeyPrefix } from "./apiKeyText.ts";
import { hashSecretText, sameHash } from "./secretHash.ts";

describe("the text of an API key", () => {
  it("[AU10] a key is svc_, 8 public characters, _, 32 random characters and a checksum of 6", () => {
    for (let made = 0; made < 200; made += 1) {
      const text = createApiKeyText();
      expect(text).toMatch(/^svc_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/);
      expect(isApiKeyText(text)).toBe(true);
    }
  });

  it("[AU10] a typo, two swapped characters or a missing part is detected without a store", () => {
    const text = createApiKeyText();
    for (let at = 0; at < text.length; at += 1) {
      const other = text[at] === "x" ? "y" : "x";
      expect(isApiKeyText(text.slice(0, at) + other + text.slice(at + 1))).toBe(false);
    }
    expect(isApiKeyText(text.slice(0, -1))).toBe(false);
    expect(isApiKeyText(`${text}0`)).toBe(false);
    expect(isApiKeyText("")).toBe(false);
    expect(isApiKeyText(text.replace("svc_", "svc-"))).toBe(false);
  });

  it("[AU10] the checksum of a fixed text never changes, because issued keys contain it", () => {
    expect(isApiKeyText("svc_AbCdEf12_0123456789abcdefghijABCDEFGHIJxy4Db1Qt")).toBe(true);
  });

  it("[AU10] two keys share only their form", () => {
    const texts = new Set(Array.from({ length: 500 }, createApiKeyText));
    expect(texts.size).toBe(500);
    expect(new Set([...texts].map(toApiKeyPrefix)).size).toBe(500);
    expect(toApiKeyPrefix([...texts][0] ?? "")).toHaveLength(12);
  });

  it("[AU10] a key is stored and compared as its SHA-256", () => {
    expect(hashSecretText("abc")).toBe(createHash("sha256").update("abc").digest("hex"));
    expect(sameHash(hashSecretText("abc"), hashSecretText("abc"))).toBe(true);
    expect(sameHash(hashSecretText("abc"), hashSecretText("abd"))).toBe(false);
    expect(sameHash(hashSecretText("abc"), "short")).toBe(false);
  });
});
