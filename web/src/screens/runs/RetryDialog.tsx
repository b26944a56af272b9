import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Run } from "../../../../api/schema/run.ts";
import { client } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { controlClass, Field, faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { toWords } from "./runWords.ts";
import { renewRuns } from "./useRuns.ts";

const fields = ["fromStep", "budget/maxTokens", "budget/maxUsd"];

/** Continues a run that failed or was cancelled. */
export function RetryDialog({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const { runId, steps, budget } = run;
  // The steps after the one at which the run stopped cannot be the first one.
  const stoppedAt = steps.findIndex(({ status }) => status === "failed" || status === "cancelled");
  const startable = steps.slice(0, stoppedAt === -1 ? steps.length : stoppedAt + 1);
  const [fromStep, setFromStep] = useState("");
  const [maxTokens, setMaxTokens] = useState(budget?.maxTokens?.toString() ?? "");
  const [maxUsd, setMaxUsd] = useState(budget?.maxUsd?.toString() ?? "");
  const queryClient = useQueryClient();
  const retry = useMutation({
    meta: { showsError: true },
    mutationFn() {
      const next = {
        ...(budget?.maxSeconds === undefined ? {} : { maxSeconds: budget.maxSeconds }),
        ...(maxTokens === "" ? {} : { maxTokens: Number(maxTokens) }),
        ...(maxUsd === "" ? {} : { maxUsd: Number(maxUsd) }),
      };
      return client.runs.retry.mutate({
        runId,
        ...(fromStep === "" ? {} : { fromStep }),
        ...(Object.keys(next).length === 0 ? {} : { budget: next }),
      });
    },
    async onSuccess() {
      await renewRuns(queryClient);
      onClose();
    },
  });
  const faults = faultsOf(retry.error);
  const rest = restOf(retry.error, fields);
  return (
    <Dialog
      title="Retry the run"
      lead="Finished steps do not run again. The text of the interrupted step is removed first, and no other text."
      isOpen
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          retry.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        <Field label="Start with" fault={faults.fromStep}>
          {(control) => (
            <select {...control} className={controlClass} value={fromStep} onChange={({ target }) => setFromStep(target.value)}>
              <option value="">The step where the run stopped</option>
              {startable.map(({ name }) => (
                <option key={name} value={name}>
                  {toWords(name)}
                </option>
              ))}
            </select>
          )}
        </Field>
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
          <Button type="submit" weight="primary" isBusy={retry.isPending}>
            Retry
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
