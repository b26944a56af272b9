import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultLimits, type RateLimit } from "../../api/limits.ts";

const units: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
];

function toTime(milliseconds: number): string {
  const [size, unit] = units.find(([size]) => milliseconds % size === 0) ?? [1, "ms"];
  const time = `${milliseconds / size} ${unit}`;
  return time === "1 d" ? "24 h" : time;
}

function toSize(bytes: number): string {
  if (bytes % 1024 !== 0 || bytes === 2048) return String(bytes);
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`;
}

function toText(field: string, value: number | RateLimit): string {
  if (value === "off") return "off";
  if (typeof value === "object") {
    const amount = (count: number) => (field.endsWith("ytes") ? toSize(count) : String(count));
    return `${amount(value.count)} a ${value.seconds === 60 ? "minute" : "second"}, burst ${amount(value.burst)}`;
  }
  if (field === "update.run") return String(value);
  if (/^keep\.(?!eventsPerLog)|Ms$|retryAfter|oldSecret|optionalApproval/.test(field)) return toTime(value);
  return toSize(value);
}

test("[OP19] docs/limits.md tells every limit, once, with its default", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/limits.md"), "utf8");
  const rows = [...text.matchAll(/^\| `([\w.]+)` \| ([^|]+) \|/gm)].map(([, field, value]) => [field, value]);
  const expected = Object.entries(defaultLimits).map(([field, value]) => [field, toText(field, value)]);
  expect(rows.toSorted()).toEqual(expected.toSorted());
});
