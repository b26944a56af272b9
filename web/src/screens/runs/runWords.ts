/** The names of states, steps and amounts of runs as people read them. */
import type { ApprovalState, Run, RunStatus, RunStepStatus, RunUsage } from "../../../../api/schema/run.ts";
import type { Tone } from "../../ui/badge.tsx";

export interface Word {
  readonly label: string;
  readonly tone: Tone;
}

export const runStates: Readonly<Record<RunStatus, Word>> = {
  queued: { label: "Queued", tone: "neutral" },
  running: { label: "Running", tone: "accent" },
  paused_for_approval: { label: "Waits for approval", tone: "warn" },
  completed: { label: "Completed", tone: "ok" },
  failed: { label: "Failed", tone: "danger" },
  cancelled: { label: "Cancelled", tone: "neutral" },
};

export const stepStates: Readonly<Record<RunStepStatus, Word>> = {
  pending: { label: "Not started", tone: "neutral" },
  running: { label: "Running", tone: "accent" },
  paused: { label: "Waits", tone: "warn" },
  completed: { label: "Done", tone: "ok" },
  failed: { label: "Failed", tone: "danger" },
  skipped: { label: "Skipped", tone: "neutral" },
  cancelled: { label: "Cancelled", tone: "neutral" },
};

export const approvalStates: Readonly<Record<ApprovalState, Word>> = {
  pending: { label: "Open", tone: "warn" },
  approved: { label: "Approved", tone: "ok" },
  rejected: { label: "Rejected", tone: "danger" },
  changes_requested: { label: "Changes requested", tone: "accent" },
  expired: { label: "Expired", tone: "neutral" },
};

export const activeStates = ["queued", "running", "paused_for_approval"] as const satisfies readonly RunStatus[];

export function isActive({ status }: Pick<Run, "status">): boolean {
  return activeStates.some((active) => active === status);
}

/** Words that are said letter by letter. */
const initials = /\b(seo|serp)\b/g;

/** `citation_enrichment` and `citationEnrichment` are `Citation enrichment`. */
export function toWords(name: string): string {
  const words = name
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLocaleLowerCase()}`)
    .replaceAll("_", " ")
    .replace(initials, (word) => word.toLocaleUpperCase());
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}

const seconds = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** Text such as `93 ms`, `4.2 s`, `3 min 10 s` or `2 h 5 min`. */
export function toDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${seconds.format(Math.floor(ms / 100) / 10)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor(ms / 1000) % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const whole = new Intl.NumberFormat("en");
const small = new Intl.NumberFormat("en", { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: 4 });

export const toMoney = (usd: number) => small.format(usd);
export const toCount = (count: number) => whole.format(count);

/** Tokens in and out together, as budgets count them. */
export const tokensOf = ({ inputTokens, outputTokens }: RunUsage) => inputTokens + outputTokens;

/** Text such as `1,200 tokens · $0.04`; undefined if no model worked. */
export function toCost(usage: RunUsage): string | undefined {
  const tokens = tokensOf(usage);
  if (tokens === 0 && usage.usd === 0) return undefined;
  return [`${whole.format(tokens)} tokens`, ...(usage.usd === 0 ? [] : [toMoney(usage.usd)])].join(" · ");
}

export function toBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${seconds.format(bytes / 1024)} KiB` : `${seconds.format(bytes / 1024 / 1024)} MiB`;
}
