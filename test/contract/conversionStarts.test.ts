/** Tests that only processes which end during the work count against a conversion. */
import { describe, expect, test } from "vitest";
import { AppError } from "../../api/schema/error.ts";
import { maxConversionInterruptions } from "../../machines/conversion.ts";
import { conversionRecord } from "../../server/domain/conversions/records.ts";
import { defaultLeaseMs } from "../support/composeParts.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { domainStorages } from "../support/storages.ts";
import { useConversions } from "./conversionRig.ts";

const often = maxConversionInterruptions + 2;

describe.each(domainStorages())("starts of conversions on %s", (_name, openStorage) => {
  const rig = useConversions(openStorage);

  test("[CV51] a converter that is unavailable delays a conversion and never ends it", async () => {
    const { node, start, end } = rig;
    const repeat = node.converter.answer;
    node.converter.answer = async (input) => {
      if (node.converter.inputs.length <= often) throw new AppError("unavailable", "The process could not start.");
      return repeat(input);
    };
    expect((await end(await start())).status).toBe("succeeded");
    expect(node.converter.inputs.length).toBe(often + 1);
  });

  test("[CV51] servers that are stopped in order, one after the other, do not count", async () => {
    const { node, storage, time, start, end, createNode } = rig;
    await node.pump.drain(AbortSignal.abort());
    const conversionId = await start();
    for (let at = 0; at < often; at += 1) {
      const next = createNode(storage, { nodeId: `node ${at}` });
      next.converter.answer = ({ signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      next.pump.start();
      await time.until(() => next.converter.inputs.length === 1);
      await next.pump.drain(AbortSignal.abort());
    }
    const last = createNode(storage, { nodeId: "last" });
    last.pump.start();
    expect((await end(conversionId)).status).toBe("succeeded");
  });

  test("[CV51] a conversion succeeds after nine processes died during it, and fails after the tenth", async () => {
    const { node, storage, time, start, end, createNode } = rig;
    await node.pump.drain(AbortSignal.abort());
    for (const deaths of [maxConversionInterruptions - 1, maxConversionInterruptions]) {
      const conversionId = await start({ source: { content: `${deaths}`, format: "markdown" } });
      const read = async () => (await storage.records.get(conversionRecord, conversionId))?.value.context;
      for (let death = 1; death <= deaths; death += 1) {
        await time.leap(2 * defaultLeaseMs);
        const dying = createDyingStorage(storage, Number.POSITIVE_INFINITY, "after");
        const doomed = createNode(dying, { nodeId: `${deaths}, ${death}` });
        doomed.converter.answer = () => new Promise(() => {});
        doomed.pump.start();
        await time.until(() => doomed.converter.inputs.length === 1);
        dying.die();
        expect((await read())?.interruptions ?? 0).toBe(death - 1);
      }
      await time.leap(2 * defaultLeaseMs);
      const next = createNode(storage, { nodeId: `after ${deaths}` });
      next.pump.start();
      const { status, error } = await end(conversionId);
      expect(status).toBe(deaths < maxConversionInterruptions ? "succeeded" : "failed");
      expect(error?.message).toBe(
        deaths < maxConversionInterruptions ? undefined : "The server stopped 10 times while it converted this document.",
      );
      await next.pump.drain(AbortSignal.abort());
    }
  });
});
