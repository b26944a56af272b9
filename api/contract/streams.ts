/** The live streams: server-sent events over REST, subscriptions over tRPC. */
import { z } from "zod";
import { type StreamContract, stream } from "../operation.ts";
import { RunId, WorkspaceId } from "../schema/id.ts";
import { TopicReference } from "../schema/run.ts";
import { AgentEvent, AgentEventNameSchema } from "../schema/timeline.ts";

const resume = { from: z.enum(["start", "now"]).optional(), lastEventId: z.string().max(128).optional() } as const;

export const streams = {
  runs: {
    timeline: stream({
      path: "/runs/{runId}/stream",
      params: z.strictObject({ runId: RunId }),
      query: z.strictObject(resume),
      event: AgentEvent,
      scopes: ["workspaces:read"],
      resource: { kind: "run", in: "params", name: "runId" },
      role: "read",
      summary: "The timeline of a run, from its start or after `Last-Event-ID` (the envelope's id), live until the run ends",
      description:
        "Each event's `id` is `<runId>:<seq>`, gap-free from 1; resume with it in `Last-Event-ID` or `lastEventId`. Begins at the start of the run, with `from=now` at its end. What is older than is kept is told by `stream.reset` with a snapshot; a finished run ends with `stream.end`, and a resume after its last event is 204. Where no header can be sent, `ticket` is a ticket of `POST /auth/stream-ticket` for `run:<runId>`.",
    }),
  },
  workspaces: {
    timeline: stream({
      path: "/workspaces/{workspaceId}/timeline/stream",
      params: z.strictObject({ workspaceId: WorkspaceId }),
      query: z.strictObject({
        ...resume,
        runId: RunId.optional(),
        topicId: TopicReference.optional(),
        event: z.array(AgentEventNameSchema).min(1).max(20).optional(),
      }),
      event: AgentEvent,
      scopes: ["workspaces:read"],
      resource: { kind: "workspace", in: "params", name: "workspaceId" },
      role: "read",
      summary: "The timelines of all runs of a workspace, from now or after `Last-Event-ID` (the envelope's cursor)",
      description:
        "Each event's `id` is its `cursor`, a decimal number; resume with it in `Last-Event-ID` or `lastEventId`. Begins with what comes from now on, with `from=start` at the oldest event that is kept. `runId`, `topicId` and `event` narrow it. What is older than is kept is told by `stream.reset` with a snapshot. Where no header can be sent, `ticket` is a ticket of `POST /auth/stream-ticket` for `workspace:<workspaceId>`.",
    }),
  },
} as const satisfies StreamContract;
export type AppStreams = typeof streams;
