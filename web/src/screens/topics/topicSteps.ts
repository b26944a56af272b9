/** What can be done with a topic besides changing its fields: the operations that `topics.transitions` names. */
import type { ContentTopic, TopicStatus } from "../../../../api/schema/topic.ts";
import { client } from "../../app/data.ts";

export interface StepInput {
  readonly text: string;
  /** Empty for no style. */
  readonly style: string;
  /** One of the options of `choice`. */
  readonly choice: string;
}

interface StepResult {
  readonly message?: string | undefined;
  readonly runId?: string | undefined;
}

export interface TopicStep {
  /** The name in the list of transitions. */
  readonly operation: string;
  readonly label: string;
  readonly lead: string;
  readonly isDangerous?: boolean;
  /** A text that goes with the step. */
  readonly text?: { readonly label: string; readonly isRequired?: boolean; readonly hint?: string };
  readonly choice?: { readonly label: string; readonly options: readonly { readonly value: string; readonly label: string }[] };
  /** The step may start a run, which writes in a style of the workspace. */
  readonly hasStyle?: boolean;
  readonly run: (of: { workspaceId: string; topicId: string }, input: StepInput) => Promise<StepResult>;
}

const pipelines = ["staged", "full"] as const;
const draftActions = ["create", "update", "optimize", "rewrite"] as const;

const instructionsText = { label: "Instructions", hint: "Every step that writes receives them." };
const feedbackText = { label: "What to change", isRequired: true };

/** Undefined for an empty field: the request then leaves it out. */
const given = (text: string) => (text.trim() === "" ? undefined : text.trim());

const toOptions = ({ text, style }: StepInput) => ({ instructions: given(text), styleProfileId: given(style) });
const toFeedback = ({ text, style }: StepInput) => ({ feedback: given(text), styleProfileId: given(style) });

export const topicSteps: readonly TopicStep[] = [
  {
    operation: "start_workflow",
    label: "Start the pipeline",
    lead: "An agent researches the topic and writes an outline. After its approval it writes the draft.",
    choice: {
      label: "Pipeline",
      options: [
        { value: "staged", label: "Staged: outline, approval, draft" },
        { value: "full", label: "Full: one run with every editorial check" },
      ],
    },
    text: instructionsText,
    hasStyle: true,
    run: (of, input) =>
      client.topics.startWorkflow.mutate({
        ...of,
        ...toOptions(input),
        pipeline: pipelines.find((known) => known === input.choice) ?? "staged",
      }),
  },
  {
    operation: "generate_outline",
    label: "Write an outline",
    lead: "A run writes outline.md. No draft follows by itself.",
    text: instructionsText,
    hasStyle: true,
    run: (of, input) => client.topics.generateOutline.mutate({ ...of, ...toOptions(input) }),
  },
  {
    operation: "run_draft_action",
    label: "Write the draft",
    lead: "A run writes content.md, or changes it.",
    choice: {
      label: "Task",
      options: [
        { value: "create", label: "Write a draft" },
        { value: "update", label: "Update the draft" },
        { value: "optimize", label: "Improve it for search" },
        { value: "rewrite", label: "Write it again" },
      ],
    },
    text: instructionsText,
    hasStyle: true,
    run: (of, input) =>
      client.topics.runDraftAction.mutate({
        ...of,
        ...toOptions(input),
        action: draftActions.find((known) => known === input.choice) ?? "create",
      }),
  },
  {
    operation: "approve_outline",
    label: "Approve the outline",
    lead: "The approval is for the newest committed outline. If a draft follows in the pipeline, its run starts.",
    text: { label: "Note" },
    async run(of, { text }) {
      const { message, draftRunId } = await client.topics.approveOutline.mutate({ ...of, note: given(text) });
      return { message, runId: draftRunId };
    },
  },
  {
    operation: "request_outline_changes",
    label: "Request changes to the outline",
    lead: "An agent writes the outline again with what you write here. An approval is removed.",
    text: feedbackText,
    hasStyle: true,
    run: (of, input) => client.topics.requestOutlineChanges.mutate({ ...of, ...toFeedback(input) }),
  },
  {
    operation: "approve_draft",
    label: "Approve the draft",
    lead: "The approval is for the newest committed draft. A later commit removes it.",
    text: { label: "Note" },
    async run(of, { text }) {
      const { message } = await client.topics.approveDraft.mutate({ ...of, note: given(text) });
      return { message };
    },
  },
  {
    operation: "request_draft_changes",
    label: "Request changes to the draft",
    lead: "An agent writes the draft again with what you write here. An approval is removed.",
    text: feedbackText,
    hasStyle: true,
    run: (of, input) => client.topics.requestDraftChanges.mutate({ ...of, ...toFeedback(input) }),
  },
  {
    operation: "shortlist",
    label: "Shortlist",
    lead: "With instructions or a style, an agent also researches the topic.",
    text: { label: "Instructions for research" },
    hasStyle: true,
    run: (of, input) => client.topics.shortlist.mutate({ ...of, ...toOptions(input) }),
  },
  {
    operation: "ensure_article",
    label: "Create the article",
    lead: "The article is empty. The status moves with its first commit.",
    async run(of) {
      await client.topics.ensureArticle.mutate(of);
      return { message: "The article is created." };
    },
  },
  {
    operation: "restore",
    label: "Restore",
    lead: "The topic returns to the state that it had.",
    async run(of) {
      const { message } = await client.topics.restore.mutate(of);
      return { message };
    },
  },
  {
    operation: "archive",
    label: "Archive",
    lead: "Its active run is cancelled. The article stays, and the topic can be restored.",
    isDangerous: true,
    text: { label: "Reason" },
    async run(of, { text }) {
      const { message } = await client.topics.archive.mutate({ ...of, note: given(text) });
      return { message };
    },
  },
];

/** The step that people usually take next, for its emphasis. */
const usualSteps: Readonly<Record<TopicStatus, readonly string[]>> = {
  idea: ["start_workflow"],
  shortlisted: ["start_workflow"],
  outlined: ["approve_outline", "run_draft_action"],
  drafted: ["approve_draft"],
  archived: ["restore"],
};

/** The usual next step among those that are allowed. */
export function findUsualStep({ status }: Pick<ContentTopic, "status">, allowed: ReadonlySet<string>): string | undefined {
  return usualSteps[status].find((operation) => allowed.has(operation));
}
