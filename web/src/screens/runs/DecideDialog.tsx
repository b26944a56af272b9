import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Approval, ApprovalDecision } from "../../../../api/schema/run.ts";
import { client, trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { faultsOf, restOf } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { TextArea } from "../../ui/prose.tsx";
import { toWords } from "./runWords.ts";
import { renewRuns } from "./useRuns.ts";

interface DecideDialogProps {
  readonly approval: Approval;
  readonly decision: ApprovalDecision;
  readonly onClose: () => void;
}

const texts = {
  approve: { title: "Approve", lead: "The run continues.", label: "Note", action: "Approve", weight: "primary" },
  request_changes: {
    title: "Request changes to",
    lead: "The step runs again with what you write here, and asks again.",
    label: "What to change",
    action: "Request changes",
    weight: "primary",
  },
  reject: {
    title: "Reject",
    lead: "The run is cancelled. The text that it wrote stays in the article.",
    label: "Reason",
    action: "Reject",
    weight: "danger",
  },
} as const;

/** Decides an approval, with a note. */
export function DecideDialog({ approval, decision, onClose }: DecideDialogProps) {
  const { runId, approvalId, stepName } = approval;
  const [note, setNote] = useState("");
  const queryClient = useQueryClient();
  const decide = useMutation({
    meta: { showsError: true },
    mutationFn: () =>
      client.runs.resolveApproval.mutate({ runId, approvalId, decision, ...(note.trim() === "" ? {} : { note: note.trim() }) }),
    async onSuccess() {
      await Promise.all([renewRuns(queryClient), queryClient.invalidateQueries(trpc.topics.pathFilter())]);
      onClose();
    },
  });
  const { title, lead, label, action, weight } = texts[decision];
  const rest = restOf(decide.error, ["note"]);
  return (
    <Dialog title={`${title} the ${toWords(stepName).toLocaleLowerCase()}`} lead={lead} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          decide.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        <TextArea
          label={label}
          isOptional={decision !== "request_changes"}
          required={decision === "request_changes"}
          autoFocus
          value={note}
          fault={faultsOf(decide.error).note}
          onChange={(event) => setNote(event.target.value)}
        />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight={weight} isBusy={decide.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
