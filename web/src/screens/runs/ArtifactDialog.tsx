import type { Artifact } from "../../../../api/schema/run.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ArtifactView } from "./ArtifactView.tsx";
import { toBytes, toWords } from "./runWords.ts";

interface ArtifactDialogProps {
  readonly runId: string;
  readonly artifactKey: string;
  /** Undefined while the list of artifacts is read. */
  readonly artifact: Artifact | undefined;
  readonly onClose: () => void;
}

export function ArtifactDialog({ runId, artifactKey, artifact, onClose }: ArtifactDialogProps) {
  return (
    <Dialog
      title={artifactKey}
      lead={artifact === undefined ? "Reading…" : `${toWords(artifact.kind)} of the step ${toWords(artifact.stepName)}, ${toBytes(artifact.bytes)}`}
      isOpen
      isWide
      onClose={onClose}
    >
      {artifact !== undefined && <ArtifactView runId={runId} artifactKey={artifactKey} contentType={artifact.contentType} />}
    </Dialog>
  );
}
