/** Defines the live streams: server-sent events over REST, subscriptions over tRPC. */
import { z } from "zod";
import { RunId, WorkspaceId } from "../schema/id.ts";
import { TopicReference } from "../schema/run.ts";
import { AgentEvent, AgentEventNameSchema } from "../schema/timeline.ts";
import { type StreamContract, stream } from "./operation.ts";

const resume = {
  from: z
    .enum(["start", "now"])
    .describe("Where to begin without a resume token: at the oldest event that is kept, or with the next one.")
    .optional(),
  lastEventId: z
    .string()
    .max(128)
    .meta({ description: "Resume token: `id` of the last event that was read. The header `Last-Event-ID` says the same.", example: "1042" })
    .optional(),
} as const;

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
      summary: "Follow the timeline of a run until it ends",
      description:
        "The `id` of each event is `<runId>:<seq>`, where `seq` counts from 1 without a gap. To resume, send it as `Last-Event-ID` or `lastEventId`. The stream begins at the start of the run; with `from=now` it begins with the next event. If the events asked for are no longer kept, it begins with `stream.reset` and a snapshot. After the last event of a finished run comes `stream.end`; a resume after that answers 204. Where no header can be sent, use a ticket of `POST /auth/stream-ticket` for `run:<runId>`.",
    }),
  },
  workspaces: {
    timeline: stream({
      path: "/workspaces/{workspaceId}/timeline/stream",
      params: z.strictObject({ workspaceId: WorkspaceId }),
      query: z.strictObject({
        ...resume,
        runId: RunId.describe("Only events of this run.").optional(),
        topicId: TopicReference.describe("Only events of runs of this topic.").optional(),
        event: z.array(AgentEventNameSchema).min(1).max(20).describe("Only events of these names; repeat it for several.").optional(),
      }),
      event: AgentEvent,
      scopes: ["workspaces:read"],
      resource: { kind: "workspace", in: "params", name: "workspaceId" },
      role: "read",
      summary: "Follow the timelines of all runs of a workspace",
      description:
        "The `id` of each event is its `cursor`, a decimal number. To resume, send it as `Last-Event-ID` or `lastEventId`. The stream begins with the next event; with `from=start` it begins with the oldest event that is kept. `runId`, `topicId` and `event` narrow it. If the events asked for are no longer kept, it begins with `stream.reset` and a snapshot. Where no header can be sent, use a ticket of `POST /auth/stream-ticket` for `workspace:<workspaceId>`.",
    }),
  },
} as const satisfies StreamContract;
export type AppStreams = typeof streams;
