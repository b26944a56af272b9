/**
 * A viewer of a workspace's timeline who never stays: it reads server-sent events from one node, is torn away at some
 * moment, and goes on at the next node from the last event id it has. It keeps what came, in the order it came.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { AgentEvent } from "../../../api/schema/timeline.ts";

export interface Seen {
  readonly id: string;
  readonly event: AgentEvent;
}

export interface Viewer {
  readonly seen: readonly Seen[];
  /** Connections that told at least one event after the first one. */
  readonly resumes: number;
  /** Whatever came that is no event: a reset, an error, a refusal. */
  readonly trouble: readonly string[];
  stop(): Promise<void>;
}

const betweenTriesMs = 50;

export function openViewer(options: {
  /** Addresses of the nodes, as they are at this moment. */
  readonly urls: () => readonly string[];
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How long it stays this time, if nobody tears it away before. */
  readonly stayMs: () => number;
  /** Where it begins. */
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
        // What was torn off in the middle of a block was not received: no id of it is known.
        const blocks = (rest + decoder.decode(piece, { stream: true })).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) take(block);
      }
    } catch {
      // Torn away, by itself or by a node that is gone: it goes on elsewhere.
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
