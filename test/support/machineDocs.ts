/** Lists the machines that have a page in `docs/machines`. */

import { articleMachine } from "../../client/articleMachine.ts";
import { agentRunMachine } from "../../machines/agentRun.ts";
import { apiKeyMachine } from "../../machines/apiKey.ts";
import { createConversionMachine } from "../../machines/conversion.ts";
import { createDeliveryMachine, defaultDeliverySchedule } from "../../machines/delivery.ts";
import { createEndpointMachine } from "../../machines/endpoint.ts";
import { createJobMachine } from "../../machines/job.ts";
import { publicLinkMachine } from "../../machines/publicLink.ts";
import { reviewMachine } from "../../machines/review.ts";
import { topicMachine } from "../../machines/topic.ts";
import { type MachineDoc, toPage, toSvg } from "./machineDiagram.ts";

const rules = { scheduleMs: defaultDeliverySchedule, maxRetryAfterMs: 0, keepMs: 0 };

const machineDocs: readonly MachineDoc[] = [
  { name: "apiKey", title: "API key", source: "machines/apiKey.ts", machine: apiKeyMachine },
  { name: "publicLink", title: "Public link and its Live synchronization", source: "machines/publicLink.ts", machine: publicLinkMachine },
  { name: "review", title: "Review: comment or suggestion", source: "machines/review.ts", machine: reviewMachine },
  { name: "topic", title: "Content topic", source: "machines/topic.ts", machine: topicMachine },
  { name: "agentRun", title: "Agent run", source: "machines/agentRun.ts", machine: agentRunMachine },
  { name: "delivery", title: "Webhook delivery", source: "machines/delivery.ts", machine: createDeliveryMachine(rules) },
  {
    name: "endpoint",
    title: "Webhook endpoint",
    source: "machines/endpoint.ts",
    machine: createEndpointMachine({ onGone: true, afterFailingMs: 1 }),
  },
  {
    name: "conversion",
    title: "Conversion",
    source: "machines/conversion.ts",
    machine: createConversionMachine({ keepOutputMs: 0, keepMs: 0 }),
  },
  { name: "article", title: "Open article of the client package", source: "client/articleMachine.ts", machine: articleMachine },
  { name: "job", title: "Job", source: "machines/job.ts", machine: createJobMachine({ keepMs: 0 }) },
];

export const machineDocsFolder = "docs/machines";

/** Maps file names to contents. */
export function toMachineDocs(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const doc of machineDocs) {
    files.set(`${doc.name}.md`, toPage(doc));
    files.set(`${doc.name}.svg`, toSvg(doc.machine));
  }
  return files;
}
