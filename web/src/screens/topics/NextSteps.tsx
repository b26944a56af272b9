import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { StartRunDialog } from "../runs/StartRunDialog.tsx";
import { StepDialog } from "./StepDialog.tsx";
import { findUsualStep, type TopicStep, topicSteps } from "./topicSteps.ts";
import { topicStates } from "./topicWords.ts";

export function useTransitions({ workspaceId, topicId }: Pick<ContentTopic, "workspaceId" | "topicId">) {
  return useQuery(trpc.topics.transitions.queryOptions({ workspaceId, topicId }));
}

interface NextStepsProps {
  readonly topic: ContentTopic;
  readonly canWrite: boolean;
}

/** What can happen to the topic next, and why the rest cannot. */
export function NextSteps({ topic, canWrite }: NextStepsProps) {
  const { data, error } = useTransitions(topic);
  const [open, setOpen] = useState<TopicStep>();
  const [isStarting, setIsStarting] = useState(false);
  if (error !== null) return <ProblemLine error={error} />;
  if (data === undefined) {
    return (
      <div role="status" aria-busy="true" aria-label="Reading the next steps" className="flex flex-col gap-2">
        <span className="skeleton h-8 w-full" />
        <span className="skeleton h-8 w-full" />
        <span className="skeleton h-8 w-full" />
      </div>
    );
  }
  const allowed = new Map(data.allowed.map(({ operation, to }) => [operation, to]));
  const blocked = new Map(data.blocked.map(({ operation, detail }) => [operation, detail]));
  const usual = findUsualStep(topic, new Set(allowed.keys()));
  // The operation answers with the present article if there is one, so it is a step only for a topic without one.
  const steps = topicSteps.filter(({ operation }) => operation !== "ensure_article" || topic.articleId === undefined);
  const possible = steps.filter(({ operation }) => allowed.has(operation));
  const impossible = steps.filter(({ operation }) => blocked.has(operation));
  return (
    <>
      {canWrite ? (
        <ul className="flex flex-col gap-1.5">
          {possible
            .toSorted((one, other) => Number(other.operation === usual) - Number(one.operation === usual))
            .map((step) => {
              const to = allowed.get(step.operation);
              return (
                <li key={step.operation}>
                  <Button
                    weight={step.operation === usual ? "primary" : step.isDangerous === true ? "danger" : "normal"}
                    className="w-full justify-between!"
                    onClick={() => setOpen(step)}
                  >
                    {step.label}…
                    {step.operation === "restore" && to !== undefined && (
                      <span className="text-xs font-normal opacity-80">{topicStates[to].label}</span>
                    )}
                  </Button>
                </li>
              );
            })}
          {allowed.has("start_workflow") && (
            <li>
              <Button weight="quiet" className="w-full justify-start!" onClick={() => setIsStarting(true)}>
                Run another workflow…
              </Button>
            </li>
          )}
        </ul>
      ) : (
        <p className="text-sm text-muted">You can only read this workspace, so you cannot change its topics.</p>
      )}
      {impossible.length > 0 && (
        <details className="mt-3 text-xs text-muted">
          <summary className="rounded-sm py-1 hover:text-text">Not possible now ({impossible.length})</summary>
          <ul className="mt-1 flex flex-col gap-2 border-l border-line pl-3">
            {impossible.map(({ operation, label }) => (
              <li key={operation}>
                <span className="block font-medium text-text">{label}</span>
                {blocked.get(operation)}
              </li>
            ))}
          </ul>
        </details>
      )}
      {open !== undefined && <StepDialog topic={topic} step={open} onClose={() => setOpen(undefined)} />}
      {isStarting && <StartRunDialog topicId={topic.topicId} onClose={() => setIsStarting(false)} />}
    </>
  );
}
