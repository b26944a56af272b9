import { MarkdownText } from "../../ui/markdownText.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { useArtifact, useArtifactText } from "./artifacts.ts";

function toPretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

interface ArtifactViewProps {
  readonly runId: string;
  readonly artifactKey: string;
}

/** An artifact as text. */
export function ArtifactView({ runId, artifactKey }: ArtifactViewProps) {
  const artifact = useArtifact(runId, artifactKey);
  const text = useArtifactText(runId, artifactKey);
  const error = artifact.error ?? text.error;
  if (error !== null) return <ProblemLine error={error} />;
  if (artifact.data === undefined || text.data === undefined) {
    return <span role="status" aria-busy="true" aria-label="Reading" className="skeleton block h-40 w-full" />;
  }
  if (artifact.data.contentType.startsWith("application/json")) {
    return (
      <pre className="overflow-auto rounded-md bg-code p-3 font-mono text-xs leading-5 whitespace-pre-wrap">{toPretty(text.data)}</pre>
    );
  }
  return <MarkdownText text={text.data} />;
}
