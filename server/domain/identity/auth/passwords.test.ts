import { describe, expect, it, vi } from "vitest";
import { createPasswords } from "./passwords.ts";

const cheap = { memoryKiB: 64, passes: 1 };

describe("passwords", () => {
  it("[AU1] passwords are stored as argon2id with the named parameters and their own salt", async () => {
    const passwords = createPasswords();
    const kept = await passwords.hash("correct horse battery");
    expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.hash("correct horse battery")).not.toBe(kept);
    expect(await passwords.verify(kept, "correct horse battery")).toBe(true);
    expect(await passwords.verify(kept, "correct horse batterx")).toBe(false);
  });

  it("[AU1] composed and decomposed characters count as the same password", async () => {
    const passwords = createPasswords(cheap);
    const kept = await passwords.hash("Zürich-Genève".normalize("NFC"));
    expect(await passwords.verify(kept, "Zürich-Genève".normalize("NFD"))).toBe(true);
  });

  it("[AU1] a check without a hash returns false after the same work", async () => {
    const passwords = createPasswords();
    const kept = await passwords.hash("correct horse battery");
    const time = async (work: () => Promise<boolean>) => {
      const before = process.cpuUsage();
      expect(await work()).toBe(false);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    await passwords.verify(undefined, "warm up");
    const wrong = await time(() => passwords.verify(kept, "something else"));
    const unknown = await time(() => passwords.verify(undefined, "something else"));
    // The factor is generous: without the hash, the time would be a thousandth.
    expect(unknown).toBeGreaterThan(wrong / 4);
  });

  it("[AU1] password checks wait for their turn and are refused when too many wait", async () => {
    const passwords = createPasswords({ ...cheap, maxRunning: 1, maxWaiting: 2 });
    const hashed = vi.fn();
    const work = [1, 2, 3].map((at) => passwords.hash(`password ${at}`).then(hashed));
    await expect(passwords.hash("one too many")).rejects.toMatchObject({ code: "rate_limited" });
    await Promise.all(work);
    expect(hashed).toHaveBeenCalledTimes(3);
    expect(await passwords.hash("room again")).toContain("argon2id");
  });
});
