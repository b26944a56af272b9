/** Tests that the metrics, limits and settings that docs/operate.md names exist. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
import { createMetrics } from "../../server/platform/observability/metrics.ts";
import { settings } from "../../server/platform/settings/settings.ts";

const page = readFileSync("docs/operate.md", "utf8");
const namesOf = (pattern: RegExp) => new Set([...page.matchAll(pattern)].map(([, name = ""]) => name));

test("[OP80] docs/operate.md names every metric of the service, and no metric that does not exist", async () => {
  const text = await createMetrics().render();
  const made = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = ""]) => name));
  const named = namesOf(/\b((?:svc|process|nodejs)_\w+?)(?:_(?:count|sum|bucket))?\b/g);
  expect([...named].filter((name) => !made.has(name))).toEqual([]);
  expect([...made].filter((name) => name.startsWith("svc_") && !named.has(name))).toEqual([]);
});

test("[OP80] docs/operate.md names limits that exist, and its example of LIMITS is accepted", () => {
  const named = namesOf(/`((?:rate|sockets|awareness|sse|body)\.\w+)`/g);
  expect(named.size).toBeGreaterThan(8);
  expect([...named].filter((name) => !(name in defaultLimits))).toEqual([]);
  const [example = ""] = namesOf(/LIMITS='([^']+)'/g);
  expect(settings.LIMITS.schema.parse(example)).toMatchObject({ "rate.auth": { count: 600, seconds: 60, burst: 2000 } });
});
