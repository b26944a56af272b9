import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type Action, useActions } from "../../app/actions.ts";
import { client, pageOptions, trpc } from "../../app/data.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Button } from "../../ui/button.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { Empty, ProblemView } from "../../ui/problem.tsx";
import { Rows } from "../../ui/rows.tsx";
import { SettingsPage } from "./SettingsPage.tsx";
import { WebhookDialog } from "./WebhookDialog.tsx";
import { WebhookRow } from "./WebhookRow.tsx";
import { WebhookSecret } from "./WebhookSecret.tsx";
import { WhoCanChange } from "./WhoCanChange.tsx";

const lead = "The server sends events of this workspace to an HTTPS address, signed with a secret.";

/** For the owner and admins: nobody else can read webhooks. */
export function WebhooksPage() {
  const { workspace, isAdmin } = useWorkspace();
  if (workspace !== undefined && !isAdmin) {
    return (
      <SettingsPage group="Integrations" title="Webhooks" lead={lead}>
        <WhoCanChange workspace={workspace} what="see and change webhooks" />
      </SettingsPage>
    );
  }
  return <WebhookList isReady={workspace !== undefined} />;
}

/** `isReady`: it is known that the person may read webhooks. */
function WebhookList({ isReady }: { readonly isReady: boolean }) {
  const { workspaceId } = useWorkspace();
  const [isCreating, setIsCreating] = useState(false);
  const [secret, setSecret] = useState<string>();
  const input = { workspaceId, limit: 100 };
  const list = useInfiniteQuery({
    queryKey: [...trpc.webhooks.list.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.webhooks.list.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
    enabled: isReady,
  });
  const actions = useMemo(
    (): readonly Action[] => [{ name: "New webhook", group: "Settings", keys: "c", run: () => setIsCreating(true) }],
    [],
  );
  useActions(actions);

  const webhooks = list.data?.pages.flatMap((page) => page.webhooks) ?? [];
  const isEmpty = list.data !== undefined && webhooks.length === 0 && !list.hasNextPage;
  const create = (
    <Button weight="primary" onClick={() => setIsCreating(true)}>
      <PlusIcon /> New webhook
    </Button>
  );
  return (
    <SettingsPage group="Integrations" title="Webhooks" lead={lead} action={isEmpty ? undefined : create}>
      {list.error !== null && webhooks.length === 0 ? (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      ) : isEmpty ? (
        <Empty title="There is no webhook" action={create}>
          A webhook sends a request to your server when an article changes, or when a review mentions somebody or gets a reply.
        </Empty>
      ) : (
        <Rows label="Webhooks" isLoading={list.data === undefined} pages={list}>
          {webhooks.map((webhook) => (
            <WebhookRow key={webhook.webhookId} webhook={webhook} />
          ))}
        </Rows>
      )}
      {isCreating && <WebhookDialog webhook={undefined} onSecret={setSecret} onClose={() => setIsCreating(false)} />}
      {secret !== undefined && <WebhookSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </SettingsPage>
  );
}
