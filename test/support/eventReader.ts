/** Reads event streams as raw bytes, so that a test sees exactly what the server sends. */
import type { ArticleEvent } from "../../api/schema/articleEvent.ts";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import type { Rest } from "./clients.ts";
import { untilReturns } from "./untilReturns.ts";

export interface Told {
  readonly event?: string;
  readonly id?: string;
  readonly data?: string;
}

export interface Reading {
  readonly status: number;
  readonly headers: Headers;
  readonly told: readonly Told[];
  /** All received text. */
  readonly text: string;
  /** Resolves with the received events once `enough` is true. */
  until(enough: (told: readonly Told[]) => boolean): Promise<readonly Told[]>;
  /** Resolves when the server ends the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

const hangMs = 20_000;
const open: Reading[] = [];

/** Closes the readers that a test left open. */
export function closeReaders(): void {
  for (const { close } of open.splice(0)) close();
}

function toTold(block: string): Told {
  const fields = block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]);
  return Object.fromEntries(fields.filter(([name]) => name === "event" || name === "id" || name === "data"));
}

export async function openReader(
  { url, headers }: Pick<Rest, "url" | "headers">,
  path: string,
  more: Record<string, string> = {},
): Promise<Reading> {
  const end = new AbortController();
  const answer = await fetch(url + path, { headers: { accept: "text/event-stream", ...headers, ...more }, signal: end.signal });
  const told: Told[] = [];
  const decoder = new TextDecoder();
  let text = "";
  async function read(): Promise<void> {
    let rest = "";
    for await (const piece of answer.body ?? []) {
      const more = decoder.decode(piece, { stream: true });
      text += more;
      const blocks = (rest + more).split("\n\n");
      rest = blocks.pop() ?? "";
      told.push(...blocks.map(toTold).filter(({ event, data }) => event !== undefined || data !== undefined));
    }
  }
  const ended = read();
  ended.catch(() => {});
  const reading: Reading = {
    status: answer.status,
    headers: answer.headers,
    told,
    get text() {
      return text;
    },
    ended,
    until: (enough) =>
      untilReturns(() => {
        if (!enough(told)) throw new Error(`so far: ${told.map(({ event, id }) => `${event} ${id}`).join(", ")}`);
        return told;
      }, hangMs),
    close: () => end.abort(),
  };
  open.push(reading);
  return reading;
}

/** Returns the agent events among the received ones. */
export function eventsOf(told: readonly Told[]): readonly AgentEvent[] {
  return told.filter(({ event }) => event?.startsWith("agent.")).map(({ data }) => JSON.parse(data ?? "") as AgentEvent);
}

/** Returns the events of an article among the received ones, with its signals. */
export function articleEventsOf(told: readonly Told[]): readonly ArticleEvent[] {
  return told
    .filter(({ event }) => /^(document|presence|public_link|review)\./.test(event ?? ""))
    .map(({ data }) => JSON.parse(data ?? "") as ArticleEvent);
}
