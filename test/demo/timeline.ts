/**
 * The timeline of a workspace as a stock EventSource hears it: from its start, and over every restart of the server from
 * the last event it has. What came is kept as it came, so that a gap or a duplicate would show.
 */
import { EventSource } from "eventsource";
import { type AgentEvent, agentEventNames } from "../../api/schema/timeline.ts";

export interface Timeline {
  readonly events: readonly AgentEvent[];
  /** Times it was connected. */
  readonly connections: number;
  close(): void;
}

export function openTimeline(options: {
  readonly url: string;
  readonly workspaceId: string;
  readonly token: string;
  onEvent(event: AgentEvent): void;
}): Timeline {
  const { url, workspaceId, token, onEvent } = options;
  const events: AgentEvent[] = [];
  let connections = 0;
  const source = new EventSource(`${url}/workspaces/${workspaceId}/timeline/stream?from=start`, {
    fetch: (address, init) => fetch(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
  });
  source.addEventListener("open", () => {
    connections += 1;
  });
  for (const name of agentEventNames) {
    source.addEventListener(name, ({ data }) => {
      const event = JSON.parse(data) as AgentEvent;
      events.push(event);
      onEvent(event);
    });
  }
  return {
    events,
    get connections() {
      return connections;
    },
    close: () => source.close(),
  };
}
