/**
 * What people ask of a topic that starts, moves or ends a run: shortlisting, archiving, the pipelines, and the
 * decisions about outline and draft.
 *
 * Each is one commit of everything it means: the topic's move with its audit, the run's move or birth with its
 * timeline, a new article, the idempotent answer. A topic is named by its id or short id.
 */
import type { z } from "zod";
import type {
  ArchiveTopicRequest,
  ChangesRequestedResponse,
  WorkspaceApproveDraftRequest,
  WorkspaceApproveOutlineRequest,
  WorkspaceApproveOutlineResponse,
  WorkspaceDraftRequestChangesRequest,
  WorkspaceGenerateOutlineRequest,
  WorkspaceGenerateOutlineResponse,
  WorkspaceOutlineRequestChangesRequest,
  WorkspaceRunDraftActionRequest,
  WorkspaceRunDraftActionResponse,
  WorkspaceRunInstructionsRequest,
  WorkspaceShortlistTopicResponse,
  WorkspaceStartWorkflowRequest,
  WorkspaceStartWorkflowResponse,
  WorkspaceTopicMessageResponse,
} from "../../api/schema/topic.ts";
import type { Call } from "../calls/call.ts";

/** An answer that is 202 when a run was started and 200 when not. */
export interface MaybeStarted<Response> {
  readonly response: Response;
  readonly started: boolean;
}

type Ask<Request extends z.ZodType, Answer> = (
  call: Call,
  topic: { readonly workspaceId: string; readonly topicId: string },
  request: z.output<Request>,
) => Promise<Answer>;

export interface TopicRuns {
  readonly shortlist: Ask<typeof WorkspaceRunInstructionsRequest, MaybeStarted<z.output<typeof WorkspaceShortlistTopicResponse>>>;
  readonly archive: Ask<typeof ArchiveTopicRequest, z.output<typeof WorkspaceTopicMessageResponse>>;
  readonly startWorkflow: Ask<typeof WorkspaceStartWorkflowRequest, z.output<typeof WorkspaceStartWorkflowResponse>>;
  readonly generateOutline: Ask<typeof WorkspaceGenerateOutlineRequest, z.output<typeof WorkspaceGenerateOutlineResponse>>;
  readonly approveOutline: Ask<typeof WorkspaceApproveOutlineRequest, MaybeStarted<z.output<typeof WorkspaceApproveOutlineResponse>>>;
  readonly requestOutlineChanges: Ask<typeof WorkspaceOutlineRequestChangesRequest, z.output<typeof ChangesRequestedResponse>>;
  readonly approveDraft: Ask<typeof WorkspaceApproveDraftRequest, z.output<typeof WorkspaceTopicMessageResponse>>;
  readonly requestDraftChanges: Ask<typeof WorkspaceDraftRequestChangesRequest, z.output<typeof ChangesRequestedResponse>>;
  readonly runDraftAction: Ask<typeof WorkspaceRunDraftActionRequest, z.output<typeof WorkspaceRunDraftActionResponse>>;
}
