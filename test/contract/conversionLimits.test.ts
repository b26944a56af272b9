/** Tests the limits of conversions: their number, their stored bytes, and the memory of an output's reader. */
import { describe, expect, test } from "vitest";
import { codeOf } from "../support/codeOf.ts";
import { succeedWith } from "../support/converterDouble.ts";
import { domainStorages } from "../support/storages.ts";
import { accountId, accountPartition, useConversions } from "./conversionRig.ts";

const limits = {
  "conversion.waiting": 2,
  "conversion.perWorkspace": 5,
  "conversion.stored": 3_000_000,
  "conversion.outputJson": 600_000,
};
const atOnce = 4;

describe.each(domainStorages())("limits of conversions on %s", (_name, openStorage) => {
  const rig = useConversions(openStorage, { limits });

  const outcomes = async (starts: readonly Promise<unknown>[]) => (await Promise.all(starts.map(codeOf))).sort();

  test("[CV70] concurrent requests never exceed the number of conversions that have not ended", async () => {
    const { node, time, start, call, workspaceId } = rig;
    node.converter.answer = () => new Promise(() => {});
    const made = Array.from({ length: atOnce }, (_, at) => start({ source: { content: `# ${at}\n`, format: "markdown" } }));
    expect(await outcomes(made)).toEqual(["done", "done", "limit_reached", "limit_reached"]);
    // Another workspace has its own number.
    const inWorkspace = await start({ to: "markdown", target: { workspaceId } as never });
    expect(await codeOf(start())).toBe("limit_reached");
    const { items } = await node.conversions.list({}, call());
    const own = items.find(({ conversionId }) => conversionId !== inWorkspace);
    await node.conversions.delete(own?.conversionId ?? "", call());
    expect(await outcomes([start(), start()])).toEqual(["done", "limit_reached"]);
    await time.advance(1);
  });

  test("[CV70] concurrent requests never exceed the number of conversions of a workspace or an account", async () => {
    const { node, convert, start, call } = rig;
    const made: string[] = [];
    for (let at = 0; at < limits["conversion.perWorkspace"] - 1; at += 1) made.push((await convert()).conversionId);
    expect(await outcomes([start(), start()])).toEqual(["done", "limit_reached"]);
    await expect(start()).rejects.toThrow(/The account has 5 conversions; at most 5 are allowed \(conversion.perWorkspace\)/);
    await node.conversions.delete(made[0] ?? "", call());
    expect(await codeOf(start())).toBe("done");
  });

  test("[CV71] stored bytes count until they are deleted; an output without room ends as failed", async () => {
    const { node, time, convert, start, call, end, storage } = rig;
    let release = () => {};
    node.converter.answer = () => new Promise((resolve) => (release = () => resolve(succeedWith("x".repeat(1_500_000)))));
    const large = { source: { content: "x".repeat(1_000_000), format: "txt" as const }, to: "markdown" as const };
    const first = await start(large);
    await time.until(() => node.converter.inputs.length === 1);
    expect(await codeOf(start({ source: { content: "y".repeat(2_000_001), format: "txt" }, to: "markdown" }))).toBe("limit_reached");
    release();
    expect((await end(first)).status).toBe("succeeded");
    const bytes = async () => (await storage.counts.get(accountPartition, [["conversion.bytes", accountId]]))[0];
    expect(await bytes()).toBe(1_500_000);
    node.converter.answer = async () => succeedWith("z".repeat(1_500_001));
    expect(await convert()).toMatchObject({ status: "failed", error: { code: "limit_reached" } });
    expect(await bytes()).toBe(1_500_000);
    await node.conversions.delete(first, call());
    expect(await bytes()).toBe(0);
    expect((await convert()).status).toBe("succeeded");
  });

  test("[CV72] a large output is read in pieces, and inside JSON only up to conversion.outputJson", async () => {
    const { node, convert, call } = rig;
    const text = Array.from({ length: 130_000 }, (_, at) => `line ${at}`).join("\n");
    node.converter.answer = async () => succeedWith(text);
    const { conversionId } = await convert();
    const output = await node.conversions.output(conversionId, call());
    expect(await codeOf(output.readWhole())).toBe("content_too_large");
    const { content } = output;
    if (content instanceof Uint8Array) throw new Error("the output came as a whole");
    const pieces: Uint8Array[] = [];
    let read = 0;
    while (read < content.size) {
      const piece = await content.read(read);
      expect(piece?.length).toBeLessThanOrEqual(512 * 1024);
      pieces.push(piece ?? new Uint8Array());
      read += piece?.length ?? content.size;
    }
    expect(Buffer.concat(pieces).toString()).toBe(text);
    expect(pieces.length).toBe(Math.ceil(text.length / (512 * 1024)));
    node.converter.answer = async () => succeedWith("short");
    const short = await convert({ source: { content: "short", format: "txt" }, to: "markdown" });
    expect((await node.conversions.output(short.conversionId, call())).content).toEqual(new Uint8Array(Buffer.from("short")));
  });
});
