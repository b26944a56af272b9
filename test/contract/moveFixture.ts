/** Sends the moves of topics and runs over REST and tRPC, and compares how both refuse them. */
import { expect } from "vitest";
import { type ErrorCode, errorRow } from "../../api/schema/error.ts";
import { defineRunKind } from "../../server/domain/runs/engine/runKind.ts";
import type { Executor } from "../../server/domain/runs/executors/port.ts";
import { topicKind } from "../../server/domain/topics/topicKind.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Answer } from "../support/operationServer.ts";
import { createRunRig, noUsage, type RunRig, toExecutors } from "./runRig.ts";

type Json = Answer["body"];

/** A run rig in which the title of a topic decides the result of the first step of its run. */
export const openMoveRig = (): Promise<RunRig> =>
  createRunRig({ storage: createMemoryStorage(), executors: { research: scripted("research"), draft: scripted("draft") } });

function scripted(type: "research" | "draft"): Executor {
  return async (context) => {
    const { topic, signal } = context;
    if (topic?.title.startsWith("Fails") === true) {
      return { kind: "failed", code: "step_failed", message: "It was to fail.", retryable: true, usage: noUsage };
    }
    if (topic?.title.startsWith("Holds") === true) {
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }
    return (toExecutors()[type] as Executor)(context);
  };
}

/** The same request on both surfaces. */
export interface MoveRequest {
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly body: object;
  readonly procedure: string;
  readonly input: object;
}

interface SurfaceAnswer {
  readonly problem?: Json;
  readonly result?: Json;
}

export const surfaces = {
  async rest(rig: RunRig, { method, path, body }: MoveRequest): Promise<SurfaceAnswer> {
    const { status, body: answered, headers } = await rig.request(method, path, body);
    if (status < 300) return { result: answered };
    expect(headers.get("content-type"), path).toBe("application/problem+json");
    expect(answered.status, path).toBe(status);
    return { problem: answered };
  },
  trpc: (rig: RunRig, { procedure, input }: MoveRequest): Promise<SurfaceAnswer> => rig.trpc(procedure, input),
} as const;
export const surfaceNames = Object.keys(surfaces) as (keyof typeof surfaces)[];

const words = { ...topicKind.words, ...defineRunKind({ keepEventsMs: 0 }).words };
type Event = keyof typeof words;

const operationsOf = (events: readonly Event[]) => [...new Set(events.flatMap((event) => words[event]?.operations ?? []))].sort();

interface ExpectedRefusal {
  readonly code: ErrorCode;
  readonly currentState: string;
  /** The event that is refused, and those that the state accepts. */
  readonly refused: Event;
  readonly taken: readonly Event[];
}

export async function expectRefused(rig: RunRig, request: MoveRequest, { code, currentState, refused, taken }: ExpectedRefusal) {
  const told = `${request.procedure} in ${currentState}`;
  const allowed = operationsOf(taken);
  const problems = [];
  for (const surface of surfaceNames) {
    const { problem, result } = await surfaces[surface](rig, request);
    expect(result, `${told} over ${surface}`).toBeUndefined();
    const { instance: _instance, requestId: _requestId, ...rest } = problem;
    expect({ ...rest, allowed: [...rest.allowed].sort() }, told).toMatchObject({
      status: errorRow(code).status,
      code,
      currentState,
      allowed,
    });
    for (const event of Object.keys(words)) expect(rest.detail, told).not.toContain(event);
    if (code === "invalid_transition") {
      const parts = [words[refused]?.asked, currentState, ...rest.allowed];
      for (const part of parts) expect(rest.detail, told).toContain(part);
    }
    problems.push(rest);
  }
  expect(problems[0], told).toEqual(problems[1]);
}
