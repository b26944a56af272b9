/**
 * The timeline of a workspace as a stock EventSource receives it: from its start, and after every restart of the server
 * from the last received event. All events are kept as received, so that a gap or a duplicate is visible.
 */
import { EventSource } from "eventsource";
import { type AgentEvent, agentEventNames } from "../../api/schema/timeline.ts";

export interface Timeline {
  readonly events: readonly AgentEvent[];
  /** Number of connections. */
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
