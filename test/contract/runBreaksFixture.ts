/** Shared parts of the tests that try to break the engine: an engine on a manual clock, and steps that the test ends. */

import type { Executors, StepContext, StepResult } from "../../server/domain/runs/executors/port.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createManualTime } from "../support/manualTime.ts";
import { createEngineNode, readRun, readTimeline } from "./runEngineFixture.ts";
import { noUsage, type RunRig, workspaceId } from "./runRig.ts";

export const partition = partitionOfId(workspaceId);

/** Opens only the engine, on a manual clock, and counts the subscribers of the bus. */
export function openEngine(executors: Executors, wrap: (storage: Storage) => Storage = (storage) => storage) {
  const time = createManualTime();
  const watched = time.watch(createMemoryStorage({ now: time.now }));
  const listening = { count: 0 };
  const storage: Storage = wrap({
    ...watched,
    bus: {
      ...watched.bus,
      subscribe(topic, listener) {
        listening.count += 1;
        const stop = watched.bus.subscribe(topic, listener);
        return () => {
          listening.count -= 1;
          stop();
        };
      },
    },
  });
  const node = createEngineNode(storage, time, executors);
  const runId = node.ids.next("run", partition);
  const until = (state: string, withinMs = 120_000) =>
    time.until(async () => (await readRun(storage, runId)).state === state, { withinMs });
  return { ...node, time, storage, runId, until, listening };
}

/** Creates a step that the test ends and that ignores its abort signal. */
export function createGate() {
  const open: (StepContext & { end(result: StepResult): void; fail(reason: unknown): void })[] = [];
  const run = (context: StepContext) => new Promise<StepResult>((resolve, reject) => open.push({ ...context, end: resolve, fail: reject }));
  return { open, run };
}

export async function draftRun(current: RunRig): Promise<{ topicId: string; runId: string; articleId: string }> {
  const topicId = await current.makeTopic();
  const { runId, articleId } = await current.expect(202, "POST", current.topicPath(topicId, "/draft/actions"), { action: "create" });
  return { topicId, runId, articleId };
}

export const draftOf = async (current: RunRig, articleId: string) => (await current.node.documents.read(articleId)).texts["content.md"];
export const eventsOf = async (storage: Storage, runId: string, name: string) =>
  (await readTimeline(storage, runId)).filter(({ event }) => event === name);
export const written = (text: string): StepResult => ({
  kind: "completed",
  text,
  artifacts: [{ kind: "draft", contentType: "text/markdown", text }],
  usage: noUsage,
});
