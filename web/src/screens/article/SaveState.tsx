import { useState } from "react";
import type { ArticleState, Article as LiveArticle } from "../../../../client/article.ts";
import { Button } from "../../ui/button.tsx";
import { Question } from "../../ui/dialog.tsx";
import { copyText } from "./panel/copyText.ts";
import type { OpenedArticle } from "./useLiveArticle.ts";
import { useArticleState } from "./useLiveArticle.ts";

interface Shown {
  readonly text: string;
  readonly detail: string;
  readonly tone: "quiet" | "warn" | "danger";
}

function changes(count: number): string {
  return count === 1 ? "1 change" : `${count} changes`;
}

function toShown({ status, unsavedChanges, problem }: ArticleState, hasCopy: boolean): Shown {
  const keeps = hasCopy ? "This browser keeps the text." : "This browser keeps no copy: leave the page open until the text is saved.";
  switch (status) {
    case "connecting":
      return { text: "Connecting…", detail: "The text is being opened.", tone: "quiet" };
    case "saved":
      return { text: "Saved", detail: "Everything is on the server's disk.", tone: "quiet" };
    case "saving":
      return { text: "Saving…", detail: `${changes(unsavedChanges)} not on the server's disk yet.`, tone: "quiet" };
    case "readOnly":
      return { text: "Read only", detail: "You can read this text, not change it.", tone: "quiet" };
    case "offline":
      return {
        text: unsavedChanges === 0 ? "Reconnecting…" : `${changes(unsavedChanges)} not sent yet`,
        detail: `${problem?.detail ?? "The connection is lost."} The next attempt follows by itself, and you can go on writing. ${keeps}`,
        tone: "warn",
      };
    case "revoked":
      return { text: "No access", detail: problem?.detail ?? "You may no longer open this article.", tone: "danger" };
    case "refused":
      return { text: "Not saved", detail: problem?.detail ?? "The server does not take this text.", tone: "danger" };
    case "closed":
      return { text: "Closed", detail: "The article is closed.", tone: "quiet" };
  }
}

const tones = { quiet: "text-muted", warn: "text-warn", danger: "text-danger" };

/** Says where the typed text is, from the acknowledgements of the server. */
export function SaveState({ live, hasCopy }: Pick<OpenedArticle, "live" | "hasCopy">) {
  const { text, detail, tone } = toShown(useArticleState(live), hasCopy);
  return (
    <span role="status" title={detail} className={`text-xs whitespace-nowrap ${tones[tone]}`}>
      {text}
    </span>
  );
}

/** The text has more than the server takes: it can be made shorter and sent again. */
export function isTooLarge({ status, problem }: ArticleState): boolean {
  return status === "refused" && (problem?.code === "content_too_large" || problem?.code === "payload_too_large");
}

/** All three files, for somebody who has to keep what cannot be saved. */
function toCopy(live: LiveArticle): string {
  const files = (["content.md", "outline.md", "research.md"] as const).map((file) => [file, live.text(file).toString()] as const);
  const written = files.filter(([, text]) => text !== "");
  return written.length === 1 ? (written[0]?.[1] ?? "") : written.map(([file, text]) => `--- ${file} ---\n${text}`).join("\n\n");
}

/** A bar over the text while the person has to do something, so that nothing typed is lost. */
export function SaveProblem({ live, onDiscard }: { readonly live: LiveArticle; readonly onDiscard: () => void }) {
  const state = useArticleState(live);
  const { status, problem } = state;
  const [isAsking, setIsAsking] = useState(false);
  const wasDenied = status === "readOnly" && problem !== undefined;
  if (status !== "refused" && status !== "revoked" && !wasDenied) return null;
  return (
    <div role="alert" className="flex flex-wrap items-center gap-2 border-b border-line bg-danger-soft px-4 py-2 text-sm text-danger">
      <p className="min-w-60 grow">{problem?.detail ?? "The text cannot be saved."} What you typed is still here; nobody else has it.</p>
      <Button onClick={() => void copyText(toCopy(live), "The text")}>Copy the text</Button>
      {(status === "revoked" || isTooLarge(state)) && <Button onClick={() => live.retry()}>Try again</Button>}
      {status !== "revoked" && (
        <Button weight="danger" onClick={() => setIsAsking(true)}>
          Go back to the saved text…
        </Button>
      )}
      <Question
        title="Go back to the saved text?"
        lead="What you typed and the server did not take is deleted in this browser, in all three files."
        action="Delete what is not saved"
        isDangerous
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={async () => onDiscard()}
      />
    </div>
  );
}
