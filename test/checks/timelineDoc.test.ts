/** Tests that docs/timeline.md shows every event with an example that the contract accepts. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { agentEventData, agentEventNames } from "../../api/schema/timeline.ts";

const page = readFileSync("docs/timeline.md", "utf8");
const sections = [...page.matchAll(/^### (\S+)\n([\s\S]*?)(?=^##)/gm)].map(([, name = "", text = ""]) => ({ name, text }));

test("[OP19] docs/timeline.md has a section for each event, and no other", () => {
  expect(sections.map(({ name }) => name).sort()).toEqual([...agentEventNames].sort());
});

test.each(agentEventNames)("[OP19] the example of %s in docs/timeline.md is a valid event", (name) => {
  const [, example = ""] = /^```json\n(.*)\n```$/m.exec(sections.find((section) => section.name === name)?.text ?? "") ?? [];
  expect(agentEventData[name].safeParse(JSON.parse(example))).toMatchObject({ success: true });
});
