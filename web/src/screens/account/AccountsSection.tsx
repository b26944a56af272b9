import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedAccount } from "../../../../api/schema/account.ts";
import { client, pageOptions, trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { FilterSelect, SearchField } from "../../ui/filters.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { noticeStore } from "../../ui/notices.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { Rows } from "../../ui/rows.tsx";
import { SecretDialog } from "../../ui/secretDialog.tsx";
import { Section } from "../../ui/section.tsx";
import { AccountRow } from "./AccountRow.tsx";
import { NewAccountDialog } from "./NewAccountDialog.tsx";

const filters = [
  { value: "", label: "All accounts" },
  { value: "enabled", label: "Enabled" },
  { value: "disabled", label: "Disabled" },
];

/** For operators: who can sign in to this server. */
export function AccountsSection() {
  const [q, setQ] = useState("");
  const [filter, setFilter] = useState("");
  const [isCreating, setIsCreating] = useState(false);
  const [created, setCreated] = useState<CreatedAccount>();
  const input = {
    limit: 50,
    ...(q === "" ? {} : { q }),
    ...(filter === "" ? {} : { disabled: filter === "disabled" }),
  };
  const list = useInfiniteQuery({
    queryKey: [...trpc.accounts.list.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.accounts.list.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
  });
  const accounts = list.data?.pages.flatMap((page) => page.accounts) ?? [];
  return (
    <Section
      title="Accounts of this server"
      lead="As an operator you manage who can sign in. This gives no access to the content of other people."
      action={
        <Button onClick={() => setIsCreating(true)}>
          <PlusIcon /> New account
        </Button>
      }
    >
      <div className="mb-2 flex flex-wrap gap-1.5">
        <SearchField label="Find accounts" value={q} onChange={setQ} />
        <FilterSelect label="State of the accounts" value={filter} options={filters} onChange={setFilter} />
      </div>
      {list.error !== null && accounts.length === 0 ? (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      ) : list.data !== undefined && accounts.length === 0 && !list.hasNextPage ? (
        <p className="py-6 text-center text-sm text-muted">No account matches.</p>
      ) : (
        <Rows label="Accounts of this server" isLoading={list.data === undefined} pages={list}>
          {accounts.map((account) => (
            <AccountRow key={account.username} account={account} />
          ))}
        </Rows>
      )}
      {isCreating && (
        <NewAccountDialog
          onCreated={(account) => {
            setIsCreating(false);
            setCreated(account);
            noticeStore.trigger.show({ kind: "done", text: `The account ${account.username} is created.` });
          }}
          onClose={() => setIsCreating(false)}
        />
      )}
      {created?.setupUrl !== undefined && (
        <SecretDialog
          title={`Setup link for ${created.username}`}
          label="Setup link"
          value={created.setupUrl}
          onClose={() => setCreated(undefined)}
        >
          Send it to {created.displayName ?? created.username} yourself: the server sends no mail. With it the person chooses a password. It
          works once, for one hour.
        </SecretDialog>
      )}
    </Section>
  );
}
