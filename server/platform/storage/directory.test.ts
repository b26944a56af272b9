import { describe, expect, test } from "vitest";
import { claimMs, createDirectory } from "./directory.ts";
import { createMemoryStorage } from "./memoryStorage.ts";

function setUp() {
  let nowMs = 1_900_000_000_000;
  const storage = createMemoryStorage({ now: () => nowMs });
  /** Existing targets, each with its text. */
  const targets = new Map<string, string>();
  const directory = createDirectory(storage);
  return {
    storage,
    targets,
    directory,
    advance: (ms: number) => (nowMs += ms),
    claim: (text: string, target: string) => directory.claim("username", text, target, async (holder) => targets.get(holder) === text),
  };
}

describe("directory", () => {
  test("[ST22] of many concurrent claims of one text, one succeeds", async () => {
    const { claim, directory } = setUp();
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => claim("ann", `usr_${at}`)));
    expect(answers.filter((answer) => answer === "claimed")).toHaveLength(1);
    expect(await directory.find("username", "ann")).toBe(`usr_${answers.indexOf("claimed")}`);
    expect(await directory.find("slug", "ann")).toBeUndefined();
    expect(await claim("Ann", "usr_x")).toBe("claimed");
  });

  test("[ST22] a repeated claim for its own target stays valid", async () => {
    const { claim } = setUp();
    expect([await claim("ann", "usr_1"), await claim("ann", "usr_1"), await claim("ann", "usr_2")]).toEqual([
      "claimed",
      "claimed",
      "taken",
    ]);
  });

  test("[ST22] a claim whose target never appeared is free after its time, and not before", async () => {
    const { claim, advance, directory } = setUp();
    await claim("ann", "usr_1");
    advance(claimMs - 1);
    expect(await claim("ann", "usr_2")).toBe("taken");
    advance(1);
    expect(await claim("ann", "usr_2")).toBe("claimed");
    expect(await directory.find("username", "ann")).toBe("usr_2");
  });

  test("[ST22] a claim whose target points back is kept for ever", async () => {
    const { claim, advance, targets } = setUp();
    await claim("ann", "usr_1");
    targets.set("usr_1", "ann");
    advance(claimMs * 1000);
    expect(await claim("ann", "usr_2")).toBe("taken");
    targets.set("usr_1", "renamed");
    expect(await claim("ann", "usr_2")).toBe("claimed");
  });

  test("[ST22] only the target of a text can release it", async () => {
    const { claim, directory } = setUp();
    await claim("ann", "usr_1");
    await directory.release("username", "ann", "usr_2");
    expect(await directory.find("username", "ann")).toBe("usr_1");
    await directory.release("username", "ann", "usr_1");
    await directory.release("username", "ann", "usr_1");
    expect(await directory.find("username", "ann")).toBeUndefined();
    expect(await claim("ann", "usr_2")).toBe("claimed");
  });
});
