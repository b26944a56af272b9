import type { Run, RunUsage } from "../../../../api/schema/run.ts";
import type { AgentEvent } from "../../../../client/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { ScrollRegion } from "../../ui/scrollRegion.tsx";
import { stepStates, toCount, toDuration, tokensOf, toMoney, toWords } from "./runWords.ts";

/** What the attempts of a step used together. */
function toUsages(events: readonly AgentEvent[]): ReadonlyMap<string, RunUsage> {
  const usages = new Map<string, RunUsage>();
  for (const event of events) {
    if (event.event !== "agent.step_completed") continue;
    const { stepName, usage } = event.data;
    const before = usages.get(stepName);
    usages.set(stepName, {
      inputTokens: usage.inputTokens + (before?.inputTokens ?? 0),
      outputTokens: usage.outputTokens + (before?.outputTokens ?? 0),
      usd: usage.usd + (before?.usd ?? 0),
      toolCalls: usage.toolCalls + (before?.toolCalls ?? 0),
    });
  }
  return usages;
}

interface RunStepsProps {
  readonly run: Run;
  readonly events: readonly AgentEvent[];
  readonly onOpenArtifact: (artifactKey: string) => void;
}

const head = "py-1.5 pr-4 font-normal";
const cell = "py-2 pr-4 align-top";

export function RunSteps({ run, events, onOpenArtifact }: RunStepsProps) {
  const usages = toUsages(events);
  return (
    <ScrollRegion label="Table of the steps">
      <table className="w-full min-w-136 text-left text-sm">
        <thead className="text-xs text-faint">
          <tr className="border-b border-line">
            <th className={head}>Step</th>
            <th className={head}>State</th>
            <th className={`${head} text-right`}>Time</th>
            <th className={`${head} text-right`}>Tokens</th>
            <th className={`${head} text-right`}>Cost</th>
            <th className={`${head} pr-0`}>Results</th>
          </tr>
        </thead>
        <tbody>
          {run.steps.map(({ name, status, attempt, approval, startedAt, finishedAt, artifactKeys, error }) => {
            const { label, tone } = stepStates[status];
            const usage = usages.get(name);
            return (
              <tr key={name} className="border-b border-line last:border-0">
                <td className={cell}>
                  <span className="font-medium">{toWords(name)}</span>
                  {approval !== "none" && (
                    <span className="block text-xs text-faint">
                      {approval === "required" ? "needs approval" : "approval if given in time"}
                    </span>
                  )}
                  {error !== undefined && error.message !== run.failure?.message && (
                    <span className="block max-w-sm text-xs text-danger">{error.message}</span>
                  )}
                </td>
                <td className={cell}>
                  <Badge tone={tone}>{label}</Badge>
                  {attempt > 1 && <span className="block text-xs text-faint">{attempt} attempts</span>}
                </td>
                <td className={`${cell} text-right tabular-nums`}>
                  {startedAt !== undefined && finishedAt !== undefined ? toDuration((finishedAt - startedAt) * 1000) : "–"}
                </td>
                <td className={`${cell} text-right tabular-nums`}>
                  {usage === undefined || tokensOf(usage) === 0 ? (
                    "–"
                  ) : (
                    <span title={`${toCount(usage.inputTokens)} in, ${toCount(usage.outputTokens)} out`}>{toCount(tokensOf(usage))}</span>
                  )}
                </td>
                <td className={`${cell} text-right tabular-nums`}>{usage === undefined || usage.usd === 0 ? "–" : toMoney(usage.usd)}</td>
                <td className={`${cell} pr-0`}>
                  {artifactKeys.map((artifactKey) => (
                    <button
                      key={artifactKey}
                      type="button"
                      onClick={() => onOpenArtifact(artifactKey)}
                      className="mr-2 rounded-sm text-accent hover:underline"
                    >
                      {artifactKey}
                    </button>
                  ))}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
