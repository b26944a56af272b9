import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { ApiKeyState, CreatedApiKey } from "../../../../api/schema/apiKey.ts";
import { type Action, useActions } from "../../app/actions.ts";
import { client, pageOptions, trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { Segments } from "../../ui/filters.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { Empty, ProblemView } from "../../ui/problem.tsx";
import { Rows } from "../../ui/rows.tsx";
import { SecretDialog } from "../../ui/secretDialog.tsx";
import { KeyRow } from "./KeyRow.tsx";
import { NewKeyDialog } from "./NewKeyDialog.tsx";
import { SettingsPage } from "./SettingsPage.tsx";

const states = ["active", "revoked", "expired"] as const satisfies readonly ApiKeyState[];
const filters = [
  { value: "", label: "All" },
  { value: "active", label: "Active" },
  { value: "revoked", label: "Revoked" },
  { value: "expired", label: "Expired" },
];

/** The API keys of the account. Their values are shown once, right after they were created. */
export function KeysPage() {
  const [state, setState] = useState<ApiKeyState>();
  const [isCreating, setIsCreating] = useState(false);
  const [created, setCreated] = useState<CreatedApiKey>();
  const input = { limit: 100, ...(state === undefined ? {} : { state }) };
  const list = useInfiniteQuery({
    queryKey: [...trpc.keys.list.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.keys.list.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
  });
  const actions = useMemo(
    (): readonly Action[] => [{ name: "New API key", group: "Settings", keys: "c", run: () => setIsCreating(true) }],
    [],
  );
  useActions(actions);

  const keys = list.data?.pages.flatMap(({ apiKeys }) => apiKeys) ?? [];
  const isEmpty = list.data !== undefined && keys.length === 0 && !list.hasNextPage;
  const create = (
    <Button weight="primary" onClick={() => setIsCreating(true)}>
      <PlusIcon /> New API key
    </Button>
  );
  return (
    <SettingsPage
      group="Integrations"
      title="API Keys"
      lead="Programs use a key instead of your password, in the header x-api-key. Keys belong to your account, and can never do more than you."
      action={isEmpty && state === undefined ? undefined : create}
    >
      {!(isEmpty && state === undefined) && (
        <div className="mb-2">
          <Segments
            label="State of the keys"
            value={state ?? ""}
            options={filters}
            onChange={(chosen) => setState(states.find((known) => known === chosen))}
          />
        </div>
      )}
      {list.error !== null && keys.length === 0 ? (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      ) : isEmpty ? (
        state === undefined ? (
          <Empty title="You have no API keys" action={create}>
            Create one for a script, a command line or an agent that works with your articles.
          </Empty>
        ) : (
          <Empty title={`No key is ${state}`} action={<Button onClick={() => setState(undefined)}>Show all keys</Button>} />
        )
      ) : (
        <Rows label="API keys" isLoading={list.data === undefined} pages={list}>
          {keys.map((key) => (
            <KeyRow key={key.keyId} apiKey={key} />
          ))}
        </Rows>
      )}
      {isCreating && (
        <NewKeyDialog
          onCreated={(key) => {
            setIsCreating(false);
            setCreated(key);
          }}
          onClose={() => setIsCreating(false)}
        />
      )}
      {created !== undefined && (
        <SecretDialog title={`API key “${created.name}”`} label="Key" value={created.key} onClose={() => setCreated(undefined)}>
          Programs send it in the header <code className="font-mono text-xs">x-api-key</code>. If it is lost or seen by others, revoke it
          and create another one.
        </SecretDialog>
      )}
    </SettingsPage>
  );
}
