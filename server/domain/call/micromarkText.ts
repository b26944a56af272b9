/**
 * InstallLinearText makes the Markdown parser (micromark) join the data of a long paragraph in linear time.
 *
 * The parser makes an event of each word and joins neighbouring ones by removing them one by one from the list of events. In a
 * paragraph of 1 MB that takes far longer than all other work. Here they are joined in one pass before the parser looks for them.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Event, Resolver } from "micromark-util-types";

interface TextModule {
  readonly text: { resolveAll: Resolver };
}

let isInstalled = false;

export async function installLinearText(): Promise<void> {
  if (isInstalled) return;
  isInstalled = true;
  const main = createRequire(import.meta.url).resolve("micromark");
  const { text } = (await import(pathToFileURL(join(dirname(main), "lib/initialize/text.js")).href)) as TextModule;
  const { resolveAll } = text;
  text.resolveAll = (events, context) => resolveAll(joinData(events), context);
}

/** Changes the list. Events of data come in pairs of a beginning and an end. */
function joinData(events: Event[]): Event[] {
  let length = 0;
  let first: Event | undefined;
  for (const event of events) {
    const isData = event[1].type === "data";
    if (isData && first !== undefined && event[1] !== first[1]) {
      first[1].end = event[1].end;
      continue;
    }
    if (!isData) first = undefined;
    else first ??= event;
    events[length] = event;
    length += 1;
  }
  events.length = length;
  return events;
}
