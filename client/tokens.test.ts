import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTokens } from "./tokens.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A source whose renewals are counted and, with `hold`, answered by `release`. */
function createSource(expiresIn = 900) {
  let count = 0;
  let hold: Promise<void> = Promise.resolve();
  let release = (): void => {};
  const tokens = createTokens(async () => {
    count += 1;
    await hold;
    if (count === 3) throw new Error("no network");
    return { accessToken: `token-${count}`, expiresIn };
  });
  return {
    tokens,
    count: () => count,
    hold: () => {
      hold = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => release(),
  };
}

test("[CL30] calls at the same time share one renewal, and later calls its token until it is about to expire", async () => {
  const { tokens, count, hold, release } = createSource();
  hold();
  const waiting = [tokens.get(), tokens.get(), tokens.get()];
  release();
  expect(await Promise.all(waiting)).toEqual(["token-1", "token-1", "token-1"]);
  vi.advanceTimersByTime(889_000);
  expect(await tokens.get()).toBe("token-1");
  vi.advanceTimersByTime(1000);
  expect([await tokens.get(), count()]).toEqual(["token-2", 2]);
});

test("[CL30] a refused token is renewed once, however many calls report it, and a failed renewal is tried again", async () => {
  const { tokens, count } = createSource();
  expect(await tokens.get()).toBe("token-1");
  tokens.refuse("token-1");
  expect(await tokens.get()).toBe("token-2");
  tokens.refuse("token-1");
  expect([await tokens.get(), count()]).toEqual(["token-2", 2]);
  tokens.refuse("token-2");
  const waiting = [tokens.get(), tokens.get()];
  for (const call of waiting) await expect(call).rejects.toThrow("no network");
  expect(await tokens.get()).toBe("token-4");
});

test("[CL30] a token that exists already is used first", async () => {
  const tokens = createTokens(() => Promise.reject(new Error("renewed")), { accessToken: "first", expiresIn: 900 });
  expect(await tokens.get()).toBe("first");
});
