import { Dialog } from "../../ui/dialog.tsx";
import { ArtifactView } from "./ArtifactView.tsx";
import { useArtifact } from "./artifacts.ts";
import { toBytes, toWords } from "./runWords.ts";

interface ArtifactDialogProps {
  readonly runId: string;
  readonly artifactKey: string;
  readonly onClose: () => void;
}

export function ArtifactDialog({ runId, artifactKey, onClose }: ArtifactDialogProps) {
  const { data } = useArtifact(runId, artifactKey);
  return (
    <Dialog
      title={artifactKey}
      lead={data === undefined ? "Result of a step" : `${toWords(data.kind)} of the step ${toWords(data.stepName)}, ${toBytes(data.bytes)}`}
      isOpen
      isWide
      onClose={onClose}
    >
      <ArtifactView runId={runId} artifactKey={artifactKey} />
    </Dialog>
  );
}
