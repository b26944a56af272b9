import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { useState } from "react";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { client } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { Question } from "../../ui/dialog.tsx";
import { controlClass, Field, faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { noticeStore } from "../../ui/notices.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { TextArea } from "../../ui/prose.tsx";
import { allFields, fieldGroups, rangePattern, type TopicField, toChanges } from "./topicFields.ts";
import { renewTopics } from "./useTopics.ts";

/** All fields of a topic in a form. Only what differs is sent, so changes by others to other fields are kept. */
export function TopicBrief({ topic, isReadOnly }: { readonly topic: ContentTopic; readonly isReadOnly: boolean }) {
  const { workspaceId, topicId } = topic;
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const changes = toChanges(topic, typed);
  const isDirty = Object.keys(changes).length > 0;
  const queryClient = useQueryClient();
  const save = useMutation({
    meta: { showsError: true },
    mutationFn: () => client.topics.update.mutate({ workspaceId, topicId, ...changes }),
    async onSuccess() {
      await renewTopics(queryClient);
      setTyped({});
      noticeStore.trigger.show({ kind: "done", text: "The topic is saved." });
    },
  });
  const blocker = useBlocker({ shouldBlockFn: () => isDirty && !save.isPending, enableBeforeUnload: isDirty, withResolver: true });
  const faults = Object.entries(faultsOf(save.error));
  const shown = faults.map(([pointer]) => pointer).filter((pointer) => allFields.some(({ name }) => isOf(pointer, name)));
  const rest = restOf(save.error, shown);
  const isComparison = (typed.articleType ?? topic.articleType) === "comparison";
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <fieldset disabled={isReadOnly} className="min-w-0">
        <legend className="sr-only">Fields of the topic</legend>
        {fieldGroups.map(({ title, fields }) => (
          <section key={title} aria-label={title} className="border-b border-line py-5 first-of-type:pt-0 last:border-0">
            <h2 className="mb-3 text-base font-semibold">{title}</h2>
            <div className="grid gap-x-5 md:grid-cols-2">
              {fields
                .filter(({ name }) => name !== "comparisonRecommendationMode" || isComparison)
                .map((field) => (
                  <div key={field.name} className={field.name === "title" ? "md:col-span-2" : ""}>
                    <FieldControl
                      field={field}
                      saved={field.read(topic)}
                      value={typed[field.name] ?? field.read(topic)}
                      fault={faults.find(([pointer]) => isOf(pointer, field.name))?.[1]}
                      onChange={(text) => setTyped((before) => ({ ...before, [field.name]: text }))}
                    />
                  </div>
                ))}
            </div>
          </section>
        ))}
      </fieldset>
      {isDirty && (
        <div className="sticky bottom-0 border-t border-line bg-bg py-3">
          {rest !== undefined && <ProblemLine error={rest} />}
          <div className="flex items-center justify-end gap-2">
            <span className="mr-auto text-sm text-muted">Not saved yet</span>
            <Button onClick={() => setTyped({})}>Discard</Button>
            <Button type="submit" weight="primary" isBusy={save.isPending}>
              Save
            </Button>
          </div>
        </div>
      )}
      <Question
        title="Leave without saving?"
        lead="Your changes to this topic are not saved."
        action="Leave"
        isDangerous
        isOpen={blocker.status === "blocked"}
        onClose={() => blocker.reset?.()}
        onConfirm={async () => blocker.proceed?.()}
      />
    </form>
  );
}

/** Whether a pointer such as `suggestedSources/0/url` is about the field. */
function isOf(pointer: string, name: string): boolean {
  return pointer === name || pointer.startsWith(`${name}/`);
}

interface FieldControlProps {
  readonly field: TopicField;
  readonly saved: string;
  readonly value: string;
  readonly fault: string | undefined;
  readonly onChange: (text: string) => void;
}

function FieldControl({ field, saved, value, fault, onChange }: FieldControlProps) {
  const { label, hint, kind, options = {}, stays = false, isRequired = false } = field;
  if (kind === "choice") {
    return (
      <Field label={label} hint={hint} fault={fault}>
        {(control) => (
          <select {...control} className={controlClass} value={value} onChange={({ target }) => onChange(target.value)}>
            {(!stays || saved === "") && <option value="">Not decided</option>}
            {Object.entries(options).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
    );
  }
  const common = { label, hint, fault, value, required: isRequired || (stays && saved !== "") };
  if (kind === "prose" || kind === "list") {
    return <TextArea {...common} rows={kind === "list" ? 2 : 1} dir="auto" onChange={({ target }) => onChange(target.value)} />;
  }
  return (
    <TextField
      {...common}
      dir="auto"
      type={kind === "number" || kind === "date" ? kind : "text"}
      {...(kind === "number" ? { min: 0, max: 100, step: "any" } : {})}
      {...(kind === "range" ? { pattern: rangePattern, title: hint } : {})}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
