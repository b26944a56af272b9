import { MarkdownText } from "../../ui/markdownText.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { useArtifactText } from "./artifacts.ts";

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
  /** Media type; Markdown unless it says JSON. */
  readonly contentType: string;
}

/** An artifact as text. */
export function ArtifactView({ runId, artifactKey, contentType }: ArtifactViewProps) {
  const { data, error } = useArtifactText(runId, artifactKey);
  if (error !== null) return <ProblemLine error={error} />;
  if (data === undefined) return <span role="status" aria-busy="true" aria-label="Reading" className="skeleton block h-40 w-full" />;
  if (contentType.startsWith("application/json")) {
    return <pre className="overflow-auto rounded-md bg-code p-3 font-mono text-xs leading-5 whitespace-pre-wrap">{toPretty(data)}</pre>;
  }
  return <MarkdownText text={data} />;
}
