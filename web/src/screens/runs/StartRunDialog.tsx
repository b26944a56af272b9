import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client, trpc } from "../../app/data.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { controlClass, Field, faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { TextArea } from "../../ui/prose.tsx";
import { toWords } from "./runWords.ts";
import { type Target, TargetPicker } from "./TargetPicker.tsx";
import { renewRuns } from "./useRuns.ts";

interface StartRunDialogProps {
  /** The topic or the article that the run is for. Without both, the dialog asks. */
  readonly topicId?: string | undefined;
  readonly articleId?: string | undefined;
  readonly onClose: () => void;
}

const fields = ["topicId", "articleId", "instructions", "budget/maxTokens", "budget/maxUsd"];

/** A number that somebody typed; undefined for an empty field. */
const toNumber = (typed: string) => (typed.trim() === "" ? undefined : Number(typed));

/** Starts a run of any workflow for people, and opens it. */
export function StartRunDialog({ topicId, articleId, onClose }: StartRunDialogProps) {
  const { workspaceId } = useWorkspace();
  const { data, error: listError } = useQuery(trpc.workflows.list.queryOptions({ workspaceId, userVisible: true }));
  const [chosen, setChosen] = useState<string>();
  const [target, setTarget] = useState<Target | undefined>(() => {
    if (topicId !== undefined) return { topicId };
    return articleId === undefined ? undefined : { articleId };
  });
  const [instructions, setInstructions] = useState("");
  const [maxTokens, setMaxTokens] = useState("");
  const [maxUsd, setMaxUsd] = useState("");
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const workflows = data?.workflows ?? [];
  const workflow = workflows.find(({ id }) => id === chosen) ?? workflows.find(({ isDefault }) => isDefault) ?? workflows[0];
  const start = useMutation({
    meta: { showsError: true },
    mutationFn(workflowId: string) {
      const [tokens, usd] = [toNumber(maxTokens), toNumber(maxUsd)];
      const budget = { ...(tokens === undefined ? {} : { maxTokens: tokens }), ...(usd === undefined ? {} : { maxUsd: usd }) };
      return client.workflows.run.mutate({
        workflowId,
        workspaceId,
        ...target,
        ...(instructions.trim() === "" ? {} : { instructions: instructions.trim() }),
        ...(Object.keys(budget).length === 0 ? {} : { budget }),
      });
    },
    async onSuccess({ runId }) {
      onClose();
      void renewRuns(queryClient);
      await navigate({ to: "/w/$workspaceId/runs/$runId", params: { workspaceId, runId } });
    },
  });
  const faults = faultsOf(start.error);
  const rest = restOf(start.error, fields) ?? listError ?? undefined;
  return (
    <Dialog title="Start a run" isOpen isWide onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (workflow !== undefined) start.mutate(workflow.id);
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        <Field label="Workflow">
          {(control) => (
            <select
              {...control}
              className={controlClass}
              value={workflow?.id ?? ""}
              disabled={workflow === undefined}
              onChange={({ target: { value } }) => setChosen(value)}
            >
              {workflows.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </select>
          )}
        </Field>
        {workflow !== undefined && (
          <div className="-mt-2 mb-4 text-xs text-muted">
            <p>{workflow.description}</p>
            <p className="mt-1.5 flex flex-wrap items-center gap-1.5">
              {workflow.steps.map((step) => (
                <Badge key={step}>{toWords(step)}</Badge>
              ))}
              {workflow.costClass === "expensive" && <span className="text-warn">Uses many tokens</span>}
            </p>
          </div>
        )}
        {topicId === undefined && articleId === undefined && (
          <TargetPicker target={target} fault={faults.topicId ?? faults.articleId} onChange={setTarget} />
        )}
        <TextArea
          label="Instructions"
          isOptional
          hint="Every step that writes receives them."
          value={instructions}
          fault={faults.instructions}
          onChange={(event) => setInstructions(event.target.value)}
        />
        <div className="grid gap-x-4 sm:grid-cols-2">
          <TextField
            label="Token limit"
            isOptional
            type="number"
            min={1}
            step={1}
            value={maxTokens}
            fault={faults["budget/maxTokens"]}
            onChange={(event) => setMaxTokens(event.target.value)}
          />
          <TextField
            label="Cost limit in US dollars"
            isOptional
            type="number"
            min={0}
            step="any"
            value={maxUsd}
            fault={faults["budget/maxUsd"]}
            onChange={(event) => setMaxUsd(event.target.value)}
          />
        </div>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight="primary" isBusy={start.isPending} disabled={workflow === undefined || target === undefined}>
            Start the run
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
