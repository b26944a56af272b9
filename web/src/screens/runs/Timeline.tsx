import type { AgentEvent } from "../../../../client/index.ts";
import type { Tone } from "../../ui/badge.tsx";
import { stepsOfApprovals, toSentence } from "./eventWords.ts";

const dots: Record<Tone, string> = {
  neutral: "bg-line-strong",
  accent: "bg-accent",
  ok: "bg-ok",
  warn: "bg-warn",
  danger: "bg-danger",
};

const times = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

interface TimelineProps {
  /** In the order in which they are shown. */
  readonly events: readonly AgentEvent[];
  /** All known events of the run, if `events` are a part of them. */
  readonly all?: readonly AgentEvent[];
}

/** Events as a list of sentences with their times. */
export function Timeline({ events, all = events }: TimelineProps) {
  const approvals = stepsOfApprovals(all);
  return (
    <ol className="text-sm">
      {events.map((event) => {
        const sentence = toSentence(event, approvals);
        if (sentence === undefined) return null;
        const { text, detail, tone } = sentence;
        const at = new Date(event.createdAt);
        return (
          <li key={event.id} className="group relative flex gap-3 pb-2.5">
            <span aria-hidden="true" className="absolute top-4 bottom-0 left-[3.5px] w-px bg-line group-last:hidden" />
            <span aria-hidden="true" className={`mt-1.5 size-2 shrink-0 rounded-full ${dots[tone]}`} />
            <span className="min-w-0 grow">
              <span className={tone === "danger" ? "text-danger" : ""}>{text}</span>
              {detail !== undefined && <span className="block text-xs text-muted">{detail}</span>}
            </span>
            <time dateTime={event.createdAt} title={exact.format(at)} className="shrink-0 text-xs leading-5 text-faint tabular-nums">
              {times.format(at)}
            </time>
          </li>
        );
      })}
    </ol>
  );
}
