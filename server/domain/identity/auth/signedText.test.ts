import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createSignedText } from "./signedText.ts";

const key = randomBytes(32);

describe("signed text", () => {
  it("[AU9] a signed text opens only for its purpose, under any listed key", () => {
    const text = createSignedText([key], "ticket").sign("payload ü");
    expect(createSignedText([key], "ticket").open(text)).toBe("payload ü");
    expect(createSignedText([randomBytes(32), key], "ticket").open(text)).toBe("payload ü");
    expect(createSignedText([key], "refresh").open(text)).toBeUndefined();
    expect(createSignedText([randomBytes(32)], "ticket").open(text)).toBeUndefined();
  });

  it("[AU9] a signed text that was changed, cut or padded does not open", () => {
    const signed = createSignedText([key], "ticket");
    const text = signed.sign("payload");
    for (let at = 0; at < text.length; at += 1) {
      expect(signed.open(`${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`)).toBeUndefined();
    }
    for (const other of ["", ".", text.slice(0, -1), `${text}=`, `${text}.`, ` ${text}`, `${text}\n`, "x".repeat(5000)]) {
      expect(signed.open(other)).toBeUndefined();
    }
  });
});
