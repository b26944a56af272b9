import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { WorkspaceWebhook } from "../../../../api/schema/webhook.ts";
import { client, trpc } from "../../app/data.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Question } from "../../ui/dialog.tsx";
import { MoreIcon } from "../../ui/icons.tsx";
import { Menu, MenuItem, MenuLine } from "../../ui/menu.tsx";
import { Row } from "../../ui/rows.tsx";
import { Time } from "../../ui/time.tsx";
import { WebhookDialog } from "./WebhookDialog.tsx";
import { WebhookSecret } from "./WebhookSecret.tsx";

export function WebhookRow({ webhook }: { readonly webhook: WorkspaceWebhook }) {
  const { webhookId, url, events, active, createdAt } = webhook;
  const { workspaceId } = useWorkspace();
  const [open, setOpen] = useState<"edit" | "rotate" | "delete">();
  const [secret, setSecret] = useState<string>();
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries(trpc.webhooks.pathFilter());
  const turn = useMutation({
    mutationFn: () => client.webhooks.update.mutate({ workspaceId, webhookId, active: !active }),
    onSuccess: refresh,
  });
  const close = () => setOpen(undefined);
  return (
    <Row
      title={
        <>
          <span className="min-w-0 break-all">{url}</span>
          <Badge tone={active ? "ok" : "neutral"}>{active ? "Active" : "Off"}</Badge>
        </>
      }
      actions={
        <Menu
          trigger={
            <IconButton label={`Actions for ${url}`}>
              <MoreIcon />
            </IconButton>
          }
        >
          <MenuItem onSelect={() => setOpen("edit")}>Change address or events…</MenuItem>
          <MenuItem onSelect={() => setOpen("rotate")}>Rotate the secret…</MenuItem>
          <MenuItem isDisabled={turn.isPending} onSelect={() => turn.mutate()}>
            {active ? "Turn off" : "Turn on"}
          </MenuItem>
          <MenuLine />
          <MenuItem isDangerous onSelect={() => setOpen("delete")}>
            Delete…
          </MenuItem>
        </Menu>
      }
    >
      <p>{events.join(", ")}</p>
      <p>
        Created <Time at={Date.parse(createdAt) / 1000} />
        {!active && " · Nothing is sent, and queued attempts are not made."}
      </p>
      {open === "edit" && <WebhookDialog webhook={webhook} onClose={close} />}
      {open === "rotate" && (
        <Question
          title="Rotate the secret?"
          lead="A new secret is created and shown once. For 24 hours, requests are signed with the old secret too, so that the receiver can change over."
          action="Rotate"
          isOpen
          onClose={close}
          onConfirm={async () => {
            const rotated = await client.webhooks.update.mutate({ workspaceId, webhookId, rotateSecret: true });
            setSecret(rotated.secret);
            await refresh();
          }}
        />
      )}
      {open === "delete" && (
        <Question
          title="Delete the webhook?"
          lead={`Nothing more is sent to ${url}. Attempts that wait are not made, and the record of its deliveries is deleted.`}
          action="Delete"
          isDangerous
          isOpen
          onClose={close}
          onConfirm={async () => {
            await client.webhooks.delete.mutate({ workspaceId, webhookId });
            await refresh();
          }}
        />
      )}
      {secret !== undefined && open === undefined && <WebhookSecret secret={secret} isRotated onClose={() => setSecret(undefined)} />}
    </Row>
  );
}
