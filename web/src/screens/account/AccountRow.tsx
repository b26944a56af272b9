import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Account } from "../../../../api/schema/account.ts";
import { client, trpc } from "../../app/data.ts";
import { useMe } from "../../app/useMe.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Question } from "../../ui/dialog.tsx";
import { MoreIcon } from "../../ui/icons.tsx";
import { Menu, MenuItem, MenuLine } from "../../ui/menu.tsx";
import { Row } from "../../ui/rows.tsx";
import { Time } from "../../ui/time.tsx";
import { EditAccountDialog } from "./EditAccountDialog.tsx";

interface Change {
  readonly action: string;
  readonly title: (username: string) => string;
  readonly lead: string;
  readonly isDangerous: boolean;
  readonly values: { readonly operator?: boolean; readonly disabled?: boolean };
}

const changes = {
  promote: {
    action: "Make operator",
    title: (username) => `Make ${username} an operator?`,
    lead: "Operators manage all accounts of this server. This gives no access to content.",
    isDangerous: false,
    values: { operator: true },
  },
  demote: {
    action: "Remove operator rights",
    title: (username) => `Remove the operator rights of ${username}?`,
    lead: "The account can then no longer manage other accounts.",
    isDangerous: true,
    values: { operator: false },
  },
  disable: {
    action: "Disable",
    title: (username) => `Disable the account ${username}?`,
    lead: "Its sessions and API keys stop working at once. Its texts keep their author. You can enable it again.",
    isDangerous: true,
    values: { disabled: true },
  },
  enable: {
    action: "Enable",
    title: (username) => `Enable the account ${username}?`,
    lead: "The person can sign in again with the old password, and API keys that were not revoked work again.",
    isDangerous: false,
    values: { disabled: false },
  },
} as const satisfies Readonly<Record<string, Change>>;

export function AccountRow({ account }: { readonly account: Account }) {
  const { username, displayName, email, operator, disabled, createdAt } = account;
  const me = useMe();
  const [open, setOpen] = useState<keyof typeof changes | "edit">();
  const queryClient = useQueryClient();
  const names = [displayName === undefined ? undefined : username, email].filter((name) => name !== undefined);
  const isOwn = username === me.username;
  const close = () => setOpen(undefined);
  const change: Change | undefined = open === undefined || open === "edit" ? undefined : changes[open];
  return (
    <Row
      sign={<Avatar username={username} name={displayName} />}
      title={
        <>
          <span dir="auto" className="min-w-0">
            {displayName ?? username}
          </span>
          {isOwn && <Badge>You</Badge>}
          {operator && <Badge tone="accent">Operator</Badge>}
          {disabled && <Badge tone="danger">Disabled</Badge>}
        </>
      }
      actions={
        isOwn ? undefined : (
          <Menu
            trigger={
              <IconButton label={`Actions for ${username}`}>
                <MoreIcon />
              </IconButton>
            }
          >
            <MenuItem onSelect={() => setOpen("edit")}>Change name or e-mail…</MenuItem>
            <MenuItem onSelect={() => setOpen(operator ? "demote" : "promote")}>
              {operator ? changes.demote.action : changes.promote.action}…
            </MenuItem>
            <MenuLine />
            <MenuItem isDangerous={!disabled} onSelect={() => setOpen(disabled ? "enable" : "disable")}>
              {disabled ? changes.enable.action : changes.disable.action}…
            </MenuItem>
          </Menu>
        )
      }
    >
      <p className="break-words">
        {names.map((name) => `${name} · `)}
        Created <Time at={createdAt} />
      </p>
      {isOwn && <p>Only another operator can disable this account or remove its operator rights.</p>}
      {open === "edit" && <EditAccountDialog account={account} onClose={close} />}
      {change !== undefined && (
        <Question
          title={change.title(username)}
          lead={change.lead}
          action={change.action}
          isDangerous={change.isDangerous}
          isOpen
          onClose={close}
          onConfirm={async () => {
            await client.accounts.update.mutate({ username, ...change.values });
            await queryClient.invalidateQueries(trpc.accounts.pathFilter());
          }}
        />
      )}
    </Row>
  );
}
