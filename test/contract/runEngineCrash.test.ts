/** Tests a run of scripted steps with a crash at every write. */
import { describe, expect, test } from "vitest";
import { AppError } from "../../api/schema/error.ts";
import type { StepContext } from "../../server/domain/runs/executors/port.ts";
import { createIds, partitionOfId } from "../../server/platform/storage/ids.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { createManualTime } from "../support/manualTime.ts";
import { domainStorages } from "../support/storages.ts";
import { createEngineNode, type EngineNode, finished, readRun, readTimeline, toInput, workspaceId } from "./runEngineFixture.ts";

const partition = partitionOfId(workspaceId);

function unless(...codes: readonly string[]) {
  return (reason: unknown) => {
    if (!(reason instanceof AppError && codes.includes(reason.code))) throw reason;
  };
}

describe.each(domainStorages())("%s", (_name, open) => {
  test("[RU20] killed around any write, a run ends the same: no step reruns, an approval counts once", async () => {
    const time = createManualTime();
    const { storage, close } = await open(time);
    const ids = createIds(time);
    let deaths = 0;
    for (const when of ["before", "after"] as const) {
      for (let dieAt = 1; ; dieAt += 1) {
        const runId = ids.next("run", partition);
        const approvalId = ids.next("apr", partition);
        const begun: string[] = [];
        /** Each execution of a step writes another value, which later steps must quote. */
        const quoting = (name: string, before?: "research" | "thesis") => async (context: StepContext) => {
          begun.push(name);
          const quoted = before === undefined ? "" : await context.output(before);
          if (before !== undefined && quoted === undefined) throw new Error("there is no output to quote");
          return finished(`${name} ${begun.length}, after ${quoted}`);
        };
        const executors = { research: quoting("research"), thesis: quoting("thesis", "research"), draft: quoting("draft", "thesis") };
        const input = toInput(
          [
            { name: "research", type: "research" },
            { name: "thesis", type: "thesis", approval: "required" },
            { name: "draft", type: "draft" },
          ],
          [approvalId],
        );
        const tellStory = async ({ actors, kind }: EngineNode) => {
          await actors.create(kind, runId, input).catch(unless("already_exists"));
          await actors
            .send(kind, runId, { type: "approval.resolve", approvalId, decision: "approve", by: "ben" })
            .catch(unless("invalid_transition"));
        };
        const dying = createDyingStorage(storage, dieAt, when);
        const first = createEngineNode(dying, time, executors);
        const told = tellStory(first);
        const isOver = async () => (await storage.records.get(first.kind.record, runId))?.value.state === "completed";
        await time.until(async () => dying.dead || (await isOver()), { stepMs: 500, withinMs: 60_000 });
        if (!dying.dead) {
          await told;
          await first.pump.drain(AbortSignal.abort());
          break;
        }
        deaths += 1;
        const second = createEngineNode(storage, time, executors);
        await tellStory(second);
        await time.until(isOver, { stepMs: 500, withinMs: 120_000 });
        const { context, pending } = await readRun(storage, runId);
        const timeline = await readTimeline(storage, runId);
        const completed = timeline
          .filter(({ event }) => event === "agent.step_completed")
          .map(({ data }) => (data as { stepName: string }).stepName);
        expect(completed, `died ${when} write ${dieAt}`).toEqual(["research", "thesis", "draft"]);
        expect(timeline.filter(({ event }) => event === "agent.approval_resolved")).toHaveLength(1);
        expect(timeline.at(-1)?.event).toBe("agent.run_completed");
        expect(timeline.filter(({ event }) => event === "agent.run_completed")).toHaveLength(1);
        expect(pending).toEqual([]);
        // Only an unfinished step was executed again, and each step quotes the real output of the step before it.
        const texts = await Promise.all(
          context.steps.map(async ({ output = "" }) => {
            const artifact = await second.artifacts.find(runId, output);
            return artifact === undefined ? "" : Buffer.from(await second.artifacts.bytes(artifact)).toString();
          }),
        );
        expect(texts[1]).toContain(`after ${texts[0]}`);
        expect(texts[2]).toContain(`after ${texts[1]}`);
        expect(begun.length).toBeLessThanOrEqual(4);
        expect(begun.lastIndexOf("research")).toBeLessThan(begun.indexOf("thesis"));
        expect(begun.lastIndexOf("thesis")).toBeLessThan(begun.indexOf("draft"));
        await second.pump.drain(AbortSignal.abort());
      }
    }
    expect(deaths).toBeGreaterThanOrEqual(20);
    await close();
  });
});
