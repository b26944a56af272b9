/** Tests the life of conversions: work, cache, expiry, deletion and waits. */
import { describe, expect, test } from "vitest";
import type { ConversionView } from "../../server/domain/conversions/conversionView.ts";
import type { RequestedConversion } from "../../server/domain/conversions/createConversion.ts";
import { conversionOrderRecord, conversionRecord } from "../../server/domain/conversions/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { codeOf } from "../support/codeOf.ts";
import { createConverterDouble } from "../support/converterDouble.ts";
import { domainStorages } from "../support/storages.ts";
import { addWorkspace } from "./articleFixture.ts";
import { accountId, accountPartition, useConversions } from "./conversionRig.ts";

const day = 24 * 3_600_000;

describe.each(domainStorages())("conversions on %s", (_name, openStorage) => {
  const rig = useConversions(openStorage);

  test("[CV50][CV65] a conversion ends with its output, its fidelity, and the name of a file", async () => {
    const { storage, node, call, start, end, textOf } = rig;
    const conversionId = await start();
    expect(partitionOfId(conversionId)).toBe(accountPartition);
    const ended = await end(conversionId);
    expect(ended).toMatchObject({ status: "succeeded", from: "markdown", to: "html", source: {}, fidelity: { score: 1 } });
    expect(ended.output).toMatchObject({ url: `https://content.example/conversions/${conversionId}/output`, bytes: 26 });
    expect(await textOf(conversionId)).toBe("markdown to html: # Kites\n");
    expect((await node.conversions.output(conversionId, call())).fileName).toBe("conversion.html");
    const stored = await storage.records.get(conversionRecord, conversionId);
    expect([stored?.value.context.input, stored?.value.pending]).toEqual([undefined, []]);
  });

  test("[CV50][CV65] a document that cannot be converted ends as failed with the reason, and has no output", async () => {
    const { node, call, convert } = rig;
    node.converter.answer = async () => ({ ok: false, code: "conversion_failed", detail: "Line 3 is broken." });
    const { conversionId, status, error } = await convert();
    expect([status, error]).toEqual(["failed", { code: "conversion_failed", message: "Line 3 is broken." }]);
    expect(await codeOf(node.conversions.output(conversionId, call()))).toBe("not_ready");
  });

  test("[CV51] an error of the server is repeated, and at last ends the conversion as failed", async () => {
    const { node, convert } = rig;
    node.converter.answer = async () => {
      throw new Error("a bug");
    };
    const { status, error } = await convert();
    expect([status, error?.code]).toEqual(["failed", "conversion_failed"]);
    expect(error?.message).not.toContain("a bug");
    expect(node.converter.inputs.length).toBe(3);
  });

  test("[CV53] equal work in one workspace or account is done once; other bytes, titles and accounts are done anew", async () => {
    const { storage, node, workspaceId, createNode, convert, textOf, newArticle } = rig;
    const first = await convert();
    const again = await convert();
    expect(again.output?.sha256).toBe(first.output?.sha256);
    expect(await textOf(again.conversionId)).toBe(await textOf(first.conversionId));
    expect(node.converter.inputs.length).toBe(1);
    await convert({ options: { title: "Other" } });
    await convert({ source: { content: "# Kite\n", format: "markdown" } });
    expect(node.converter.inputs.length).toBe(3);
    const newer = createNode(storage, { nodeId: "node_b", converter: createConverterDouble("double-2") });
    await node.pump.drain(AbortSignal.abort());
    newer.pump.start();
    await convert({}, newer);
    expect(newer.converter.inputs.length).toBe(1);
    const articleId = await newArticle("# Kites\n");
    const ofArticle = await convert({ source: { articleId } as never, options: { title: "Kites" } }, newer);
    expect(ofArticle.workspaceId).toBe(workspaceId);
    expect(newer.converter.inputs.length).toBe(2);
  });

  test("[CV53] the copy of a deleted conversion's output stays readable", async () => {
    const { time, node, call, convert, textOf } = rig;
    const first = await convert();
    const second = await convert();
    await node.conversions.delete(first.conversionId, call());
    await time.leap(2 * 3_600_000);
    await time.advance(10_000);
    expect(await textOf(second.conversionId)).toBe("markdown to html: # Kites\n");
  });

  test("[CV55] an output expires after keep.output, and the conversion is deleted after keep.conversions", async () => {
    const { time, storage, node, createNode, call, get, convert } = rig;
    const { conversionId, output } = await convert();
    await time.leap(day - 60_000);
    expect((await get(conversionId)).status).toBe("succeeded");
    await node.pump.drain(AbortSignal.abort());
    await time.leap(120_000);
    // The row that deletes the output has not run yet.
    expect(await codeOf(node.conversions.output(conversionId, call()))).toBe("output_expired");
    const other = createNode(storage, { nodeId: "node_b" });
    other.pump.start();
    const read = async () => (await storage.records.get(conversionRecord, conversionId))?.value;
    await time.until(async () => (await read())?.state === "expired");
    expect(await get(conversionId)).toMatchObject({ status: "expired", finishedAt: expect.any(Number) });
    expect((await get(conversionId)).output).toBeUndefined();
    await time.leap(3_600_000);
    await time.until(async () => (await storage.blobs.get(accountPartition, output?.sha256 ?? "")) === undefined);
    await time.leap(30 * day);
    await time.until(async () => (await read()) === undefined);
    expect(await codeOf(node.conversions.get(conversionId, call()))).toBe("not_found");
  });

  test("[CV111] a conversion is queued until the converter is free for it, and running from then on", async () => {
    const { time, node, start, end, get } = rig;
    const seen: string[] = [];
    let conversionId = "";
    let isAsked = false;
    let free = () => {};
    node.converter.untilFree = () => {
      isAsked = true;
      return new Promise((resolve) => {
        free = resolve;
      });
    };
    node.converter.answer = async () => {
      seen.push((await get(conversionId)).status);
      return { ok: false, code: "conversion_failed", detail: "Line 3 is broken." };
    };
    conversionId = await start();
    await time.until(async () => isAsked);
    seen.push((await get(conversionId)).status);
    free();
    expect((await end(conversionId)).status).toBe("failed");
    expect(seen).toEqual(["queued", "running"]);
  });

  test("[CV54][CV111] a queued conversion that was deleted never begins", async () => {
    const { time, node, call, start } = rig;
    let isAborted = false;
    let isAsked = false;
    node.converter.untilFree = ({ signal }) => {
      isAsked = true;
      return new Promise((resolve) =>
        signal?.addEventListener("abort", () => {
          isAborted = true;
          resolve();
        }),
      );
    };
    const conversionId = await start();
    await time.until(async () => isAsked);
    await node.conversions.delete(conversionId, call());
    await time.until(async () => isAborted);
    expect(await codeOf(node.conversions.get(conversionId, call()))).toBe("not_found");
    await node.pump.drain(AbortSignal.timeout(5000));
    expect(node.converter.inputs).toEqual([]);
  });

  test("[CV54] deleting a running conversion ends its work, and nothing of it is stored", async () => {
    const { time, node, call, start, get, live, newArticle } = rig;
    let aborted = false;
    const articleId = await newArticle("As it was.\n");
    node.converter.answer = ({ signal }) =>
      new Promise((_, reject) =>
        signal?.addEventListener("abort", () => {
          aborted = true;
          reject(signal.reason);
        }),
      );
    const conversionId = await start({ to: "markdown", target: { articleId } as never });
    await time.until(async () => (await get(conversionId)).status === "running" && node.converter.inputs.length === 1);
    await node.conversions.delete(conversionId, call());
    await time.until(() => aborted);
    await time.advance(60_000);
    expect(await codeOf(node.conversions.get(conversionId, call()))).toBe("not_found");
    expect(await codeOf(node.conversions.delete(conversionId, call()))).toBe("not_found");
    expect(await live(articleId)).toBe("As it was.\n");
  });

  test("[CV61] a call waits for the end of its conversion, and no longer than it wants", async () => {
    const { time, node, call, request } = rig;
    const views: ConversionView[] = [];
    const wait = async (waitMs: number, more?: Partial<RequestedConversion>) => {
      const startedAtMs = time.now();
      const before = views.length;
      void node.conversions.create(request(more), { ...call(), waitMs }).then((view) => views.push(view));
      await time.until(() => views.length > before);
      return [views.at(-1)?.conversion.status, views.at(-1)?.hasEnded, time.now() - startedAtMs >= waitMs];
    };
    expect(await wait(30_000)).toEqual(["succeeded", true, false]);
    node.converter.answer = () => new Promise(() => {});
    const held = { source: { content: "held", format: "markdown" as const } };
    expect(await wait(5000, held)).toEqual(["running", false, true]);
    const last = wait(30_000, held);
    node.stopWaiting();
    expect(await last).toEqual(["queued", false, false]);
  });

  test("[CV64] a repeated attempt finds the conversion that an interrupted one created", async () => {
    const { time, node, workspaceId, start, end, articles } = rig;
    const attempt = { seed: "once", nowMs: time.now() };
    const options = { attempt };
    const first = await start({ to: "markdown", target: { workspaceId } as never }, node, options);
    const again = await start({ to: "markdown", target: { workspaceId } as never }, node, options);
    expect(again).toBe(first);
    await end(first);
    expect(await articles()).toHaveLength(1);
  });

  test("[CV61] a client that leaves ends its wait, and its body is released before the wait", async () => {
    const { node, time, call, request, get } = rig;
    node.converter.answer = () => new Promise(() => {});
    const client = new AbortController();
    const events: string[] = [];
    const waiting = { ...call(), waitMs: 30_000, signal: client.signal, releaseBody: () => void events.push("released") };
    const created = node.conversions.create(request(), waiting).catch((reason: Error) => events.push(reason.message));
    await time.until(() => events.length === 1);
    const [{ conversionId = "" } = {}] = (await node.conversions.list({}, call())).items;
    const startedAtMs = time.now();
    client.abort(new Error("gone"));
    await created;
    expect([events, time.now() - startedAtMs]).toEqual([["released", "gone"], 0]);
    expect(["queued", "running"]).toContain((await get(conversionId)).status);
  });

  test("[CV64] a conversion that was deleted is not created again under its Idempotency-Key", async () => {
    const { node, storage, time, call, request, start } = rig;
    node.converter.answer = () => new Promise(() => {});
    const options = { attempt: { seed: "deleted", nowMs: time.now() } };
    const refused = codeOf(node.conversions.create(request(), { ...call(options), waitMs: 30_000 }));
    let conversionId = "";
    await time.until(async () => {
      conversionId = (await node.conversions.list({}, call())).items[0]?.conversionId ?? "";
      return conversionId !== "";
    });
    await node.conversions.delete(conversionId, call());
    await time.until(async () => (await Promise.race([refused, "waits"])) !== "waits");
    expect(await refused).toBe("not_found");
    for (const waitMs of [30_000, 0]) {
      expect(await codeOf(node.conversions.create(request(), { ...call(options), waitMs }))).toBe("not_found");
    }
    expect(await storage.records.get(conversionRecord, conversionId)).toBeUndefined();
    // The record that says so is deleted with the key.
    await time.leap(node.limits["keep.idempotency"]);
    await time.until(async () => (await storage.records.get(conversionOrderRecord, conversionId)) === undefined);
    expect(await start()).not.toBe(conversionId);
  });

  test("[CV56] a key that reaches the target but not the source article sees nothing of the conversion", async () => {
    const { node, storage, workspaceId, call, convert, newArticle } = rig;
    const articleId = await newArticle("# Secret\n");
    const target = await addWorkspace(storage, 9);
    const { conversionId } = await convert({ source: { articleId } as never, to: "markdown", target: { workspaceId: target } as never });
    const withKey = (...workspaceIds: string[]) => ({
      ...call(),
      principal: {
        kind: "key",
        accountId,
        username: "ada",
        operator: false,
        keyId: "key_0000000000000000000000000B",
        workspaceIds,
      } as const,
    });
    for (const narrow of [withKey(target), withKey(workspaceId)]) {
      expect((await node.conversions.list({}, narrow)).items).toEqual([]);
      for (const attempt of [node.conversions.get, node.conversions.output, node.conversions.delete]) {
        expect(await codeOf(attempt(conversionId, narrow))).toBe("not_found");
      }
    }
    expect((await node.conversions.list({}, withKey(target, workspaceId))).items).toHaveLength(1);
    expect(await codeOf(node.conversions.output(conversionId, withKey(target, workspaceId)))).toBe("done");
  });

  test("[CV56] an account lists its own conversions of all its workspaces, newest first, over its pages", async () => {
    const { time, node, call, start, newArticle } = rig;
    const articleId = await newArticle("# Kites\n");
    const made: string[] = [];
    const asked: Partial<RequestedConversion>[] = [
      {},
      { source: { articleId } as never },
      { source: { content: "b", format: "txt" }, to: "markdown" },
    ];
    for (const more of asked) {
      made.unshift(await start(more));
      await time.advance(10);
    }
    const first = await node.conversions.list({ limit: 2 }, call());
    const second = await node.conversions.list({ limit: 2, nextToken: first.nextToken }, call());
    expect([...first.items, ...second.items].map(({ conversionId }) => conversionId)).toEqual(made);
    const other = {
      ...call(),
      principal: { kind: "session", accountId: "usr_0000000000000000000000000B", username: "bo", operator: false, sessionId: "ses_b" },
    } as const;
    expect((await node.conversions.list({}, other)).items).toEqual([]);
    for (const conversionId of made) expect(await codeOf(node.conversions.get(conversionId, other))).toBe("not_found");
  });
});
