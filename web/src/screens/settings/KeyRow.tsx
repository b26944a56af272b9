import { useQuery } from "@tanstack/react-query";
import type { ApiKey } from "../../../../api/schema/apiKey.ts";
import { trpc } from "../../app/data.ts";
import { Badge } from "../../ui/badge.tsx";
import { Row } from "../../ui/rows.tsx";
import { Time } from "../../ui/time.tsx";
import { KeyMenu } from "./KeyMenu.tsx";
import { accessOf, keyStates } from "./keyTexts.ts";

function IsoTime({ at }: { readonly at: string }) {
  return <Time at={Date.parse(at) / 1000} />;
}

export function KeyRow({ apiKey }: { readonly apiKey: ApiKey }) {
  const { name, description, prefix, state, createdAt, lastUsedAt, expiresAt, revokedAt } = apiKey;
  const { name: stateName, tone } = keyStates[state];
  return (
    <Row
      title={
        <>
          <span dir="auto" className="min-w-0">
            {name}
          </span>
          <Badge tone={tone}>{stateName}</Badge>
        </>
      }
      actions={<KeyMenu apiKey={apiKey} />}
    >
      {description !== undefined && description !== "" && (
        <p dir="auto" className="text-sm">
          {description}
        </p>
      )}
      <p>
        <code className="font-mono">{prefix}…</code> · {accessOf(apiKey)} · <Reach workspaceIds={apiKey.workspaceIds} />
      </p>
      <p>
        Created <IsoTime at={createdAt} /> ·{" "}
        {lastUsedAt === undefined ? (
          "Never used"
        ) : (
          <>
            Used <IsoTime at={lastUsedAt} />
          </>
        )}{" "}
        ·{" "}
        {revokedAt !== undefined ? (
          <>
            Revoked <IsoTime at={revokedAt} />
          </>
        ) : expiresAt === undefined ? (
          "No expiry"
        ) : (
          <>
            {state === "expired" ? "Expired" : "Expires"} <IsoTime at={expiresAt} />
          </>
        )}
      </p>
    </Row>
  );
}

/** The workspaces that the key is limited to. Those that the person can no longer open are only counted. */
function Reach({ workspaceIds }: Pick<ApiKey, "workspaceIds">) {
  const { data } = useQuery(trpc.workspaces.list.queryOptions({}));
  if (workspaceIds === undefined) return "All workspaces";
  const names = (data?.workspaces ?? [])
    .filter(({ workspaceId }) => workspaceIds.includes(workspaceId))
    .map(({ name, displayName }) => displayName ?? name);
  const others = workspaceIds.length - names.length;
  const rest = others === 0 ? [] : [`${others} ${names.length === 0 ? "" : "other "}${others === 1 ? "workspace" : "workspaces"}`];
  return `Only ${new Intl.ListFormat("en").format([...names, ...rest])}`;
}
