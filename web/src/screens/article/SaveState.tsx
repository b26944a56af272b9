import type { ArticleState, Article as LiveArticle } from "../../../../client/article.ts";
import { Button } from "../../ui/button.tsx";
import { useArticleState } from "./useLiveArticle.ts";

interface Shown {
  readonly text: string;
  readonly detail: string;
  readonly tone: "quiet" | "warn" | "danger";
}

function changes(count: number): string {
  return count === 1 ? "1 change" : `${count} changes`;
}

function toShown({ status, unsavedChanges, problem }: ArticleState): Shown {
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
        detail: `${problem === undefined ? "The connection is lost." : problem.detail} The next attempt follows by itself, and you can go on writing: this browser keeps the text.`,
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
export function SaveState({ live }: { readonly live: LiveArticle }) {
  const { text, detail, tone } = toShown(useArticleState(live));
  return (
    <span role="status" title={detail} className={`text-xs whitespace-nowrap ${tones[tone]}`}>
      {text}
    </span>
  );
}

/** A bar over the text while the person has to do something, so that nothing typed is lost. */
export function SaveProblem({ live, onDiscard }: { readonly live: LiveArticle; readonly onDiscard: () => void }) {
  const { status, problem } = useArticleState(live);
  if (status !== "refused" && status !== "revoked") return null;
  return (
    <div role="alert" className="flex flex-wrap items-center gap-2 border-b border-line bg-danger-soft px-4 py-2 text-sm text-danger">
      <p className="min-w-60 grow">{problem?.detail ?? "The text cannot be saved."} Copy what you need before you go on.</p>
      <Button onClick={() => void navigator.clipboard.writeText(live.text().toString())}>Copy the text</Button>
      {status === "revoked" ? (
        <Button onClick={() => live.retry()}>Try again</Button>
      ) : (
        <Button weight="danger" onClick={onDiscard}>
          Go back to the saved text
        </Button>
      )}
    </div>
  );
}
