import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { controlClass, Field, faultsOf, restOf } from "../../ui/form.tsx";
import { noticeStore } from "../../ui/notices.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { TextArea } from "../../ui/prose.tsx";
import { renewRuns } from "../runs/useRuns.ts";
import type { TopicStep } from "./topicSteps.ts";
import { renewTopics } from "./useTopics.ts";

interface StepDialogProps {
  readonly topic: ContentTopic;
  readonly step: TopicStep;
  readonly onClose: () => void;
}

const textFields = ["instructions", "feedback", "note"];

/** The names of the styles in the settings of a workspace. */
function toStyles(settings: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const styles = settings?.styleProfiles;
  return typeof styles === "object" && styles !== null ? Object.keys(styles) : [];
}

/** Asks for what a step needs, and takes it. */
export function StepDialog({ topic, step, onClose }: StepDialogProps) {
  const { workspaceId, topicId } = topic;
  const { workspace } = useWorkspace();
  const [text, setText] = useState("");
  const [style, setStyle] = useState("");
  const [choice, setChoice] = useState(step.choice?.options[0]?.value ?? "");
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const take = useMutation({
    meta: { showsError: true },
    mutationFn: () => step.run({ workspaceId, topicId }, { text, style, choice }),
    async onSuccess({ message, runId }) {
      await Promise.all([renewTopics(queryClient), renewRuns(queryClient)]);
      onClose();
      noticeStore.trigger.show({
        kind: "done",
        text: runId === undefined ? (message ?? "Done.") : "A run has started.",
        ...(runId === undefined
          ? {}
          : { action: { label: "Open", run: () => void navigate({ to: "/w/$workspaceId/runs/$runId", params: { workspaceId, runId } }) } }),
      });
    },
  });
  const styles = step.hasStyle === true ? toStyles(workspace?.settings) : [];
  const faults = faultsOf(take.error);
  const rest = restOf(take.error, [...textFields, "styleProfileId"]);
  return (
    <Dialog title={step.label} lead={step.lead} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          take.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        {step.choice !== undefined && (
          <Field label={step.choice.label}>
            {(control) => (
              <select {...control} className={controlClass} value={choice} onChange={({ target }) => setChoice(target.value)}>
                {step.choice?.options.map(({ value, label }) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {step.text !== undefined && (
          <TextArea
            label={step.text.label}
            hint={step.text.hint}
            isOptional={step.text.isRequired !== true}
            required={step.text.isRequired === true}
            autoFocus
            value={text}
            fault={textFields.flatMap((name) => faults[name] ?? [])[0]}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        {styles.length > 0 && (
          <Field label="Style" isOptional fault={faults.styleProfileId}>
            {(control) => (
              <select {...control} className={controlClass} value={style} onChange={({ target }) => setStyle(target.value)}>
                <option value="">Project default</option>
                {styles.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight={step.isDangerous === true ? "danger" : "primary"} isBusy={take.isPending}>
            {step.label}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
