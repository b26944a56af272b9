import { SecretDialog } from "../../ui/secretDialog.tsx";

interface WebhookSecretProps {
  readonly secret: string;
  /** The webhook had another secret before. */
  readonly isRotated?: boolean;
  readonly onClose: () => void;
}

export function WebhookSecret({ secret, isRotated = false, onClose }: WebhookSecretProps) {
  return (
    <SecretDialog title={isRotated ? "New secret of the webhook" : "Secret of the webhook"} label="Secret" value={secret} onClose={onClose}>
      The receiver checks the header <code className="font-mono text-xs">x-svc-signature</code> of each request with it.
      {isRotated && " For 24 hours, requests are signed with the old secret too."}
    </SecretDialog>
  );
}
