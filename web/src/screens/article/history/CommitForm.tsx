import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client, trpc } from "../../../app/data.ts";
import { Button } from "../../../ui/button.tsx";
import { faultsOf, restOf, TextField } from "../../../ui/form.tsx";
import { noticeStore } from "../../../ui/notices.tsx";
import { ProblemLine } from "../../../ui/problem.tsx";

interface CommitFormProps {
  readonly articleId: string;
  /** The newest commit. */
  readonly lastId: string | undefined;
  readonly onClose: () => void;
}

const fields = ["message", "name"];

/** Commits the live text, or names the last commit if nothing has changed since. */
export function CommitForm({ articleId, lastId, onClose }: CommitFormProps) {
  const [message, setMessage] = useState("");
  const [name, setName] = useState("");
  const queryClient = useQueryClient();
  const commit = useMutation({
    meta: { showsError: true },
    mutationFn: () =>
      client.commits.create.mutate({
        articleId,
        ...(message.trim() === "" ? {} : { message: message.trim() }),
        ...(name.trim() === "" ? {} : { name: name.trim() }),
      }),
    async onSuccess({ commitId }) {
      const named = name.trim() === "" ? "" : ` It is named “${name.trim()}” now.`;
      const text = commitId === lastId ? `Nothing has changed since the last commit.${named}` : "The text is committed.";
      noticeStore.trigger.show({ kind: "done", text });
      onClose();
      await queryClient.invalidateQueries(trpc.commits.pathFilter());
    },
  });
  const faults = faultsOf(commit.error);
  const rest = restOf(commit.error, fields);
  return (
    <form
      aria-label="Commit now"
      className="border-b border-line bg-side p-4"
      onSubmit={(event) => {
        event.preventDefault();
        commit.mutate();
      }}
    >
      <TextField
        label="Message"
        isOptional
        autoFocus
        maxLength={1000}
        placeholder="What has changed?"
        value={message}
        fault={faults.message}
        onChange={({ target }) => setMessage(target.value)}
      />
      <TextField
        label="Name"
        isOptional
        maxLength={120}
        placeholder="Sent to print"
        hint="Marks this text so that it is found again. Without changes since the last commit, that commit gets the name."
        value={name}
        fault={faults.name}
        onChange={({ target }) => setName(target.value)}
      />
      {rest !== undefined && <ProblemLine error={rest} />}
      <div className="flex justify-end gap-2">
        <Button weight="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" weight="primary" isBusy={commit.isPending}>
          Commit
        </Button>
      </div>
    </form>
  );
}
