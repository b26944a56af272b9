import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { PublicLink } from "../../../../../api/schema/publicLink.ts";
import { client } from "../../../app/data.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { CopyIcon, ExternalIcon } from "../../../ui/icons.tsx";
import { Time } from "../../../ui/time.tsx";
import { copyText } from "../panel/copyText.ts";
import { refreshLink } from "./usePublicLink.ts";

const states = {
  live: { name: "Live", tone: "ok" },
  snapshot: { name: "Snapshot", tone: "accent" },
  expired: { name: "Expired", tone: "warn" },
} as const;

export function StateBadge({ state }: Pick<PublicLink, "state">) {
  const { name, tone } = states[state];
  return <Badge tone={tone}>{name}</Badge>;
}

/** The address of the page, and what its readers see. */
export function LinkStatus({ link, canWrite }: { readonly link: PublicLink; readonly canWrite: boolean }) {
  const { url, state, publishedAt, publishedBy, expiresAt, snapshotAt, liveSync } = link;
  return (
    <section aria-label="State of the page" className="border-b border-line p-4">
      <div className="flex items-center gap-2">
        <StateBadge state={state} />
        <p className="min-w-0 truncate text-xs text-muted">
          Published <Time at={publishedAt} /> by {publishedBy}
        </p>
      </div>
      <div className="mt-3 flex items-center gap-1 rounded-md border border-line bg-side py-1 pr-1 pl-2.5">
        <a
          href={url}
          target="_blank"
          rel="noreferrer"
          className="min-w-0 grow truncate text-sm text-accent underline-offset-2 hover:underline"
        >
          {url.replace(/^https?:\/\//, "")}
        </a>
        <IconButton label="Copy the address" onClick={() => void copyText(url, "The address is")}>
          <CopyIcon />
        </IconButton>
        <a
          href={url}
          target="_blank"
          rel="noreferrer"
          aria-label="Open the page"
          title="Open the page"
          className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-text"
        >
          <ExternalIcon />
        </a>
      </div>
      <div className="mt-3 text-sm">
        {state === "expired" && expiresAt !== undefined && (
          <p className="text-warn">
            The page expired <Time at={expiresAt} />. It is no longer public. Set a later expiry, or none, to make it public again.
          </p>
        )}
        {state === "snapshot" && snapshotAt !== undefined && (
          <p>
            Readers see the text that was frozen <Time at={snapshotAt} />.
          </p>
        )}
        {state === "live" && liveSync !== undefined && <SyncState sync={liveSync} articleId={link.articleId} canWrite={canWrite} />}
        {state !== "expired" && expiresAt !== undefined && (
          <p className="mt-1 text-xs text-muted">
            Expires <Time at={expiresAt} />.
          </p>
        )}
      </div>
    </section>
  );
}

interface SyncStateProps {
  readonly sync: NonNullable<PublicLink["liveSync"]>;
  readonly articleId: string;
  readonly canWrite: boolean;
}

function SyncState({ sync: { status, lastSyncedAt, nextRetryAt, lastError }, articleId, canWrite }: SyncStateProps) {
  const queryClient = useQueryClient();
  const retry = useMutation({
    mutationFn: () => client.publicLinks.sync.mutate({ articleId }),
    onSettled: () => refreshLink(queryClient),
  });
  switch (status) {
    case "synced":
      return (
        <p>
          Readers see the newest text.{" "}
          {lastSyncedAt !== undefined && (
            <span className="text-xs text-muted">
              Updated <Time at={lastSyncedAt} />
            </span>
          )}
        </p>
      );
    case "pending":
    case "syncing":
      return <p className="text-muted">The newest edit is on its way to the readers.</p>;
    case "retrying":
    case "failed":
      return (
        <div role="alert">
          <p className="text-warn">
            {status === "failed" ? "The page could not be updated." : "The last attempt to update the page failed."} {lastError}
          </p>
          {nextRetryAt !== undefined && (
            <p className="text-xs text-muted">
              The next attempt follows by itself, <Time at={nextRetryAt} />.
            </p>
          )}
          {canWrite && (
            <Button className="mt-2" isBusy={retry.isPending} onClick={() => retry.mutate()}>
              Try again
            </Button>
          )}
        </div>
      );
  }
}
