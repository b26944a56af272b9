/**
 * A viewer of a workspace's timeline that changes nodes: it reads server-sent events from one node, is disconnected at
 * some moment, and continues at the next node from the last event id. It keeps all events in the order of arrival.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { AgentEvent } from "../../../api/schema/timeline.ts";

export interface Seen {
  readonly id: string;
  readonly event: AgentEvent;
}

export interface Viewer {
  readonly seen: readonly Seen[];
  /** Connections that received at least one event, without the first connection. */
  readonly resumes: number;
  /** Everything received that is not an event: a reset, an error, a refusal. */
  readonly trouble: readonly string[];
  stop(): Promise<void>;
}

const betweenTriesMs = 50;

export function openViewer(options: {
  /** Current addresses of the nodes. */
  readonly urls: () => readonly string[];
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds until the viewer leaves the node, unless it is disconnected before. */
  readonly stayMs: () => number;
  /** Node at which the viewer starts. */
  readonly node: number;
}): Viewer {
  const { urls, path, headers, stayMs, node } = options;
  const seen: Seen[] = [];
  const trouble: string[] = [];
  let [resumes, lastId, isOver] = [0, "", false];
  let leave = new AbortController();

  function take(block: string): void {
    const fields = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)] as const));
    const [name = "", id = "", data = ""] = [fields.get("event"), fields.get("id"), fields.get("data")];
    if (name.startsWith("agent.")) seen.push({ id, event: JSON.parse(data) as AgentEvent });
    else if (name !== "" && name !== "stream.position") trouble.push(`${name}: ${data}`);
    if (id !== "") lastId = id;
  }

  async function stay(url: string): Promise<void> {
    leave = new AbortController();
    const before = seen.length;
    const timer = setTimeout(() => leave.abort(), stayMs());
    try {
      const answer = await fetch(url + path, {
        headers: { accept: "text/event-stream", ...headers, ...(lastId === "" ? {} : { "last-event-id": lastId }) },
        signal: leave.signal,
      });
      if (answer.status !== 200) {
        const text = await answer.text();
        if (answer.status !== 503) trouble.push(`${answer.status}: ${text}`);
        return;
      }
      const decoder = new TextDecoder();
      let rest = "";
      for await (const piece of answer.body ?? []) {
        // An incomplete block was not received, because its id is unknown.
        const blocks = (rest + decoder.decode(piece, { stream: true })).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) take(block);
      }
    } catch {
      // The viewer disconnected, or the node is gone. The viewer continues at another node.
    } finally {
      clearTimeout(timer);
      if (before > 0 && seen.length > before) resumes += 1;
    }
  }

  const reading = (async () => {
    for (let turn = node; !isOver; turn += 1) {
      const all = urls();
      await stay(all[turn % all.length] ?? "");
      await pause(betweenTriesMs);
    }
  })();

  return {
    seen,
    trouble,
    get resumes() {
      return resumes;
    },
    async stop() {
      isOver = true;
      leave.abort();
      await reading;
    },
  };
}
