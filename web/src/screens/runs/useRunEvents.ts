/** The timeline of one run, complete and live. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Run } from "../../../../api/schema/run.ts";
import { type AgentEvent, followRun } from "../../../../client/index.ts";
import { trpc } from "../../app/data.ts";
import { api } from "../../session/session.ts";
import { isActive } from "./runWords.ts";
import { type EventStream, useEventStream } from "./useEventStream.ts";
import { renewRuns } from "./useRuns.ts";

interface RunEvents extends EventStream {
  /** Oldest first, without a gap unless `isCut`. */
  readonly events: readonly AgentEvent[];
  /** Earlier events existed and are no longer kept. */
  readonly isCut: boolean;
}

/** Follows a run and reads its record again when its events say more than the record. One component follows one run. */
export function useRunEvents(runId: string, run: Run | undefined): RunEvents {
  const queryClient = useQueryClient();
  const [events, setEvents] = useState<readonly AgentEvent[]>([]);
  const stream = useEventStream({
    // A stream ends with its run. A run that is retried has a new one, which continues the old one.
    epoch: run !== undefined && !isActive(run) ? "ended" : "active",
    open: (start) => followRun(api, { runId, ...start }),
    tokenOf: ({ id }) => id,
    onItems(items) {
      const reset = items.findLastIndex(({ event }) => event === "stream.reset");
      const fresh = items.slice(reset + 1).filter((item) => item.event !== "stream.reset");
      setEvents((known) => {
        const lastSeq = reset === -1 ? (known.at(-1)?.seq ?? 0) : 0;
        return [...(reset === -1 ? known : []), ...fresh.filter(({ seq }) => seq > lastSeq)];
      });
      const known = queryClient.getQueryData(trpc.runs.get.queryKey({ runId }))?.lastSeq ?? 0;
      if (reset !== -1 || (fresh.at(-1)?.seq ?? 0) > known) void renewRuns(queryClient);
    },
  });
  return { ...stream, events, isCut: (events[0]?.seq ?? 1) > 1 };
}
