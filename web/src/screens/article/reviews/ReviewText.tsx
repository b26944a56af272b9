import { splitMentions } from "./mentions.ts";

interface ReviewTextProps {
  readonly text: string;
  readonly mentions: readonly string[];
  readonly unresolvedMentions: readonly string[];
}

/** The Markdown of a review as its author typed it, with its mentions marked. */
export function ReviewText({ text, mentions, unresolvedMentions }: ReviewTextProps) {
  return (
    <>
      <p dir="auto" className="text-sm wrap-anywhere whitespace-pre-wrap">
        {splitMentions(text, [...mentions, ...unresolvedMentions]).map((part) =>
          part.isMention ? (
            <strong key={part.at} className={`font-medium ${isUnresolved(part.text) ? "text-warn" : "text-accent"}`}>
              {part.text}
            </strong>
          ) : (
            <span key={part.at}>{part.text}</span>
          ),
        )}
      </p>
      {unresolvedMentions.length > 0 && (
        <p className="mt-1 text-xs text-warn">
          {unresolvedMentions.map((username) => `@${username}`).join(", ")} cannot read this article and{" "}
          {unresolvedMentions.length === 1 ? "is" : "are"} not notified.
        </p>
      )}
    </>
  );

  function isUnresolved(handle: string): boolean {
    return unresolvedMentions.includes(handle.slice(1).toLowerCase());
  }
}
