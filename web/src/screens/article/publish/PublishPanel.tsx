import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { PublicLinkMode } from "../../../../../api/schema/article.ts";
import { client, trpc } from "../../../app/data.ts";
import { Button } from "../../../ui/button.tsx";
import { Question } from "../../../ui/dialog.tsx";
import { restOf } from "../../../ui/form.tsx";
import { Empty, ProblemLine } from "../../../ui/problem.tsx";
import { PanelFrame, PanelState } from "../panel/PanelFrame.tsx";
import type { ArticlePanel } from "../panel/panel.ts";
import { useArticleEvents } from "../panel/useArticleEvents.ts";
import { Checks } from "./Checks.tsx";
import { LinkStatus } from "./LinkStatus.tsx";
import { ModeField } from "./ModeField.tsx";
import { Periods } from "./Periods.tsx";
import { PublishedChanges } from "./PublishedChanges.tsx";
import { PublishForm } from "./PublishForm.tsx";
import { SettingsForm } from "./SettingsForm.tsx";
import { type LinkChange, refreshLink, useLinkChange, usePublicLink } from "./usePublicLink.ts";

/** The public page of an article: whether there is one, what it shows, and who finds it. */
export function PublishPanel({ articleId, file, doc, editor, canWrite, onClose }: ArticlePanel) {
  const { data: link, error, refetch } = usePublicLink(articleId);
  const change = useLinkChange(articleId);
  const [isAsking, setIsAsking] = useState(false);
  /** The mode that was chosen, until the answer comes. */
  const [wantedMode, setWantedMode] = useState<PublicLinkMode>();
  const queryClient = useQueryClient();
  useArticleEvents(articleId, (event) => {
    if (event !== undefined && /^(presence|review)\./.test(event.event)) return;
    // Typing changes whether a Live page is up to date. The texts are compared and checked when it has stopped.
    const isTyping = event?.event === "document.live" && event.data.typing.length > 0;
    void queryClient.invalidateQueries(isTyping ? trpc.publicLinks.get.pathFilter() : trpc.publicLinks.pathFilter());
  });

  if (link === undefined) {
    return (
      <PanelFrame title="Publishing" onClose={onClose}>
        <PanelState label="the public page" error={error} onRetry={() => void refetch()} />
      </PanelFrame>
    );
  }
  const { isPending: isBusy } = change;
  const send = (wanted: LinkChange) => change.mutate(wanted);
  const refusal = restOf(change.error, ["slug", "expiresAt", "gate"]);
  const result = refusal !== undefined && (
    <div className="px-4 pt-4">
      <ProblemLine error={refusal} />
    </div>
  );
  const checked = { articleId, file, doc, editor, onClose };

  if (link === null) {
    return (
      <PanelFrame title="Publishing" onClose={onClose}>
        {result}
        {canWrite ? (
          <PublishForm {...{ isBusy }} error={change.error} onPublish={(settings) => send({ type: "publish", settings })} />
        ) : (
          <Empty title="Not public">Only people who may write can make this article public.</Empty>
        )}
        {canWrite && <Checks {...checked} isBlocking={false} />}
        <Periods articleId={articleId} />
      </PanelFrame>
    );
  }
  return (
    <PanelFrame title="Publishing" onClose={onClose}>
      {result}
      <LinkStatus {...{ link, canWrite }} />
      {link.state !== "expired" && <PublishedChanges {...{ link, canWrite, isBusy }} onChange={send} />}
      {canWrite && (
        <>
          <Checks {...checked} isBlocking={link.gate === "block"} />
          <section aria-label="Mode" className="border-b border-line p-4">
            <ModeField
              mode={wantedMode ?? link.mode}
              isDisabled={isBusy}
              onChange={(mode) => {
                setWantedMode(mode);
                change.mutate({ type: "change", settings: { mode } }, { onSettled: () => setWantedMode(undefined) });
              }}
            />
            <p className="mt-2 text-xs text-muted">After a switch the page shows the newest text. Its address stays.</p>
          </section>
          <SettingsForm
            {...{ link, isBusy }}
            error={change.error}
            onSave={(settings, onSaved) => change.mutate({ type: "change", settings }, { onSuccess: onSaved })}
          />
        </>
      )}
      <Periods articleId={articleId} />
      {canWrite && (
        <div className="p-4">
          <Button weight="danger" onClick={() => setIsAsking(true)}>
            Unpublish…
          </Button>
          <Question
            title="Unpublish this article?"
            lead="The public page stops working at once. If you publish again, it has the same address."
            action="Unpublish"
            isDangerous
            isOpen={isAsking}
            onClose={() => setIsAsking(false)}
            onConfirm={async () => {
              await client.publicLinks.delete.mutate({ articleId });
              change.reset();
              await refreshLink(queryClient);
            }}
          />
        </div>
      )}
    </PanelFrame>
  );
}
