import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Workspace } from "../../../../api/schema/workspace.ts";
import { client, trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog, Question } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { TextArea } from "../../ui/prose.tsx";
import { Section } from "../../ui/section.tsx";
import { type Style, stylesOf } from "./styles.ts";

interface StyleProfilesProps {
  readonly workspace: Workspace;
  readonly isAdmin: boolean;
}

type Open = { readonly kind: "edit"; readonly style: Style | undefined } | { readonly kind: "delete"; readonly style: Style };

/** Texts that tell agents how to write. A run or a content project names one of them. */
export function StyleProfiles({ workspace: { workspaceId, settings }, isAdmin }: StyleProfilesProps) {
  const [open, setOpen] = useState<Open>();
  const queryClient = useQueryClient();
  const styles = stylesOf(settings);
  const close = () => setOpen(undefined);

  /** `null` removes the profile. */
  async function change(name: string, profile: { readonly content: string } | null) {
    await client.workspaces.update.mutate({ workspaceId, settings: { styleProfiles: { [name]: profile } } });
    await queryClient.invalidateQueries(trpc.workspaces.get.queryFilter({ workspaceId }));
  }

  return (
    <Section
      level={3}
      title="Style profiles"
      lead="Texts that tell agents how to write. A run or a content project names the profile that it follows."
      action={isAdmin && <Button onClick={() => setOpen({ kind: "edit", style: undefined })}>New style profile</Button>}
    >
      {styles.length === 0 ? (
        <p className="text-sm text-muted">There is no style profile. Agents then write without one.</p>
      ) : (
        <ul aria-label="Style profiles">
          {styles.map((style) => (
            <li
              key={style.name}
              className="flex flex-wrap items-start gap-x-3 gap-y-1 border-t border-line py-3 first:border-t-0 first:pt-0"
            >
              <div className="min-w-0 grow basis-60">
                <p dir="auto" className="text-base font-medium">
                  {style.name}
                </p>
                <p dir="auto" className="mt-0.5 line-clamp-3 text-sm whitespace-pre-line text-muted">
                  {style.text}
                </p>
              </div>
              {isAdmin && (
                <div className="flex gap-1.5">
                  <Button aria-label={`Edit ${style.name}`} onClick={() => setOpen({ kind: "edit", style })}>
                    Edit
                  </Button>
                  <Button weight="danger" aria-label={`Delete ${style.name}`} onClick={() => setOpen({ kind: "delete", style })}>
                    Delete
                  </Button>
                </div>
              )}
            </li>
          ))}
        </ul>
      )}
      {open?.kind === "edit" && (
        <StyleDialog
          style={open.style}
          names={styles.map(({ name }) => name)}
          onSave={({ name, text }) => change(name, { content: text })}
          onClose={close}
        />
      )}
      {open?.kind === "delete" && (
        <Question
          title={`Delete the style profile “${open.style.name}”?`}
          lead="Runs and content projects that name it can no longer find it. Its text cannot be restored."
          action="Delete"
          isDangerous
          isOpen
          onClose={close}
          onConfirm={() => change(open.style.name, null)}
        />
      )}
    </Section>
  );
}

interface StyleDialogProps {
  /** Undefined for a new profile. */
  readonly style: Style | undefined;
  readonly names: readonly string[];
  readonly onSave: (style: Style) => Promise<unknown>;
  readonly onClose: () => void;
}

function StyleDialog({ style, names, onSave, onClose }: StyleDialogProps) {
  const [name, setName] = useState(style?.name ?? "");
  const [text, setText] = useState(style?.text ?? "");
  const save = useMutation({
    meta: { showsError: true },
    mutationFn: () => onSave({ name: style?.name ?? name.trim(), text }),
    onSuccess: onClose,
  });
  const isTaken = style === undefined && names.includes(name.trim());
  return (
    <Dialog title={style === undefined ? "New style profile" : `Style profile “${style.name}”`} isOpen isWide onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isTaken) save.mutate();
        }}
      >
        {save.error !== null && <ProblemLine error={save.error} />}
        {style === undefined && (
          <TextField
            label="Name"
            hint="Runs and content projects name the profile by it, so it cannot be changed. At most 200 characters."
            required
            autoFocus
            maxLength={200}
            value={name}
            fault={isTaken ? "There is a style profile of this name." : undefined}
            onChange={(event) => setName(event.target.value)}
          />
        )}
        <TextArea
          label="Text"
          hint="For example the tone, the length of sentences, and words to avoid."
          dir="auto"
          required
          autoFocus={style !== undefined}
          rows={8}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight="primary" isBusy={save.isPending}>
            {style === undefined ? "Create" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
