/** Times as people say them, with the exact time on hover. */
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

const steps = [
  ["minute", 60, 3600],
  ["hour", 3600, 86_400],
  ["day", 86_400, 7 * 86_400],
] as const;

/** Text such as `5 minutes ago`; the date after a week. `seconds` is Unix time. */
export function toAgo(seconds: number, nowMs: number = Date.now()): string {
  const past = nowMs / 1000 - seconds;
  if (Math.abs(past) < 60) return "just now";
  for (const [unit, size, end] of steps) if (Math.abs(past) < end) return relative.format(-Math.round(past / size), unit);
  return day.format(seconds * 1000);
}

/** `at` is Unix time in seconds. */
export function Time({ at, className = "" }: { readonly at: number; readonly className?: string }) {
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exact.format(at * 1000)} className={className}>
      {toAgo(at)}
    </time>
  );
}
