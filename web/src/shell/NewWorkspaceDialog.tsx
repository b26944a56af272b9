import { Dialog } from "../ui/dialog.tsx";
import { WorkspaceForm } from "./WorkspaceForm.tsx";

interface NewWorkspaceDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function NewWorkspaceDialog({ isOpen, onClose }: NewWorkspaceDialogProps) {
  return (
    <Dialog title="New workspace" lead="It holds articles, topics and the people who work on them." isOpen={isOpen} onClose={onClose}>
      <WorkspaceForm onCreated={onClose} />
    </Dialog>
  );
}
