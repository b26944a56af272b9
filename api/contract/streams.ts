/** Defines the live streams: server-sent events over REST, subscriptions over tRPC. */
import { z } from "zod";
import { ArticleEvent } from "../schema/articleEvent.ts";
import { RunId, WorkspaceId } from "../schema/id.ts";
import { TopicReference } from "../schema/run.ts";
import { AgentEvent, AgentEventNameSchema } from "../schema/timeline.ts";
import { type StreamContract, stream } from "./operation.ts";
import { articleParams, inWorkspace, ofArticle } from "./resource.ts";

const resume = {
  from: z
    .enum(["start", "now"])
    .describe("Where the stream begins if there is no resume token: at the oldest kept event, or at the next one.")
    .optional(),
  lastEventId: z
    .string()
    .max(128)
    .meta({
      description: "Resume token: the `id` of the last event that was read. The header `Last-Event-ID` has the same meaning.",
      example: "1042",
    })
    .optional(),
} as const;

export const streams = {
  articles: {
    events: stream({
      path: "/articles/{articleId}/stream",
      params: articleParams,
      query: z.strictObject(resume),
      event: ArticleEvent,
      scopes: ["articles:read"],
      resource: { ...ofArticle, deleted: true },
      role: "read",
      summary: "Follow the events of an article",
      description:
        "Commits, deletion, changes of the public link and reviews are kept in the event log of the article. Their `id` is the position in this log, a decimal number. To resume, send it as `Last-Event-ID` or `lastEventId`. The stream begins with the next event; with `from=start` it begins with the oldest kept event. `document.live` (at most one a second, while the text changes), `presence.joined` and `presence.left` are sent to connected readers only: they have no `id` and are not repeated. If the requested events are no longer kept, the stream begins with `stream.reset` and the article as a snapshot. When the article is moved to the trash or deleted, the stream sends `document.deleted` and then `stream.end`; a resume after that answers 204 while the article is in the trash. A client that cannot send headers uses a ticket of `POST /auth/stream-ticket` for `article:<articleId>`.",
    }),
  },
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
        "The `id` of each event is `<runId>:<seq>`, where `seq` starts at 1 and has no gaps. To resume, send it as `Last-Event-ID` or `lastEventId`. The stream begins at the start of the run; with `from=now` it begins with the next event. If the requested events are no longer kept, it begins with `stream.reset` and a snapshot. After the last event of a finished run the stream sends `stream.end`; a resume after that answers 204. A client that cannot send headers uses a ticket of `POST /auth/stream-ticket` for `run:<runId>`.",
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
        event: z
          .array(AgentEventNameSchema)
          .min(1)
          .max(20)
          .describe("Only events with these names; repeat the parameter for several.")
          .optional(),
      }),
      event: AgentEvent,
      scopes: ["workspaces:read"],
      resource: inWorkspace,
      role: "read",
      summary: "Follow the timelines of all runs of a workspace",
      description:
        "The `id` of each event is its `cursor`, a decimal number. To resume, send it as `Last-Event-ID` or `lastEventId`. The stream begins with the next event; with `from=start` it begins with the oldest kept event. `runId`, `topicId` and `event` filter the events. If the requested events are no longer kept, it begins with `stream.reset` and a snapshot. A client that cannot send headers uses a ticket of `POST /auth/stream-ticket` for `workspace:<workspaceId>`.",
    }),
  },
} as const satisfies StreamContract;
export type AppStreams = typeof streams;
