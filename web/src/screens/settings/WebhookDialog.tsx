import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { WorkspaceWebhook, WorkspaceWebhookEventType } from "../../../../api/schema/webhook.ts";
import { client, trpc } from "../../app/data.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Button } from "../../ui/button.tsx";
import { CheckGroup } from "../../ui/choices.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { eventOptions, eventTypes } from "./webhookEvents.ts";

interface WebhookDialogProps {
  /** Undefined for a new one. */
  readonly webhook: WorkspaceWebhook | undefined;
  /** Called with the secret of a new webhook. */
  readonly onSecret?: (secret: string) => void;
  readonly onClose: () => void;
}

/** Creates a webhook, or changes its address and events. */
export function WebhookDialog({ webhook, onSecret, onClose }: WebhookDialogProps) {
  const { workspaceId } = useWorkspace();
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState<readonly WorkspaceWebhookEventType[]>(webhook?.events ?? eventTypes);
  const queryClient = useQueryClient();
  const save = useMutation({
    meta: { showsError: true },
    async mutationFn() {
      const values = { workspaceId, url: url.trim(), events: [...events] };
      if (webhook === undefined) return (await client.webhooks.create.mutate(values)).secret;
      await client.webhooks.update.mutate({ ...values, webhookId: webhook.webhookId });
      return undefined;
    },
    onSuccess(secret) {
      void queryClient.invalidateQueries(trpc.webhooks.pathFilter());
      onClose();
      if (secret !== undefined) onSecret?.(secret);
    },
  });
  const faults = faultsOf(save.error);
  const rest = restOf(save.error, ["url", "events"]);
  const noEvent = events.length === 0 ? "Choose at least one event." : undefined;
  return (
    <Dialog
      title={webhook === undefined ? "New webhook" : "Change the webhook"}
      {...(webhook === undefined ? { lead: "Its secret is shown once, after it is created." } : {})}
      isOpen
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (noEvent === undefined) save.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        <TextField
          label="Address"
          hint="HTTPS, on a public host, at most 2,048 characters."
          type="url"
          inputMode="url"
          placeholder="https://"
          autoComplete="off"
          required
          autoFocus
          maxLength={2048}
          value={url}
          fault={faults.url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <CheckGroup label="Events" values={events} options={eventOptions} fault={faults.events ?? noEvent} onChange={setEvents} />
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight="primary" isBusy={save.isPending}>
            {webhook === undefined ? "Create webhook" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
