import { Check } from "../../../ui/check.tsx";
import { controlClass, Field, TextField } from "../../../ui/form.tsx";
import type { SettingsDraft } from "./linkSettings.ts";

interface SettingsFieldsProps {
  readonly draft: SettingsDraft;
  readonly faults: Readonly<Record<string, string>>;
  readonly isNew: boolean;
  readonly onChange: (draft: SettingsDraft) => void;
}

const gates: readonly { readonly value: SettingsDraft["gate"]; readonly label: string }[] = [
  { value: "off", label: "No checks" },
  { value: "warn", label: "Report what the checks find" },
  { value: "block", label: "Refuse a text with errors" },
];

/** Address, expiry, indexing and checks of a public page. */
export function SettingsFields({ draft, faults, isNew, onChange }: SettingsFieldsProps) {
  return (
    <>
      <TextField
        label="Address"
        placeholder={isNew ? "Made from the title" : ""}
        hint={isNew ? "Lower-case letters, digits and hyphens." : "An earlier address redirects to the new one."}
        maxLength={120}
        spellCheck={false}
        autoCapitalize="off"
        value={draft.slug}
        fault={faults.slug}
        onChange={({ target }) => onChange({ ...draft, slug: target.value })}
      />
      <TextField
        label="Expires"
        isOptional
        type="datetime-local"
        hint="After this time the page is no longer public."
        value={draft.expiresAt}
        fault={faults.expiresAt}
        onChange={({ target }) => onChange({ ...draft, expiresAt: target.value })}
      />
      <Field label="Checks before publication" hint="Edits that a Live page follows are not checked." fault={faults.gate}>
        {(control) => (
          <select
            {...control}
            className={controlClass}
            value={draft.gate}
            onChange={({ target }) => onChange({ ...draft, gate: gates.find(({ value }) => value === target.value)?.value ?? "off" })}
          >
            {gates.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="mb-4">
        <Check
          label="Search engines may list the page"
          isOn={draft.indexable}
          onChange={(indexable) => onChange({ ...draft, indexable })}
        />
      </div>
    </>
  );
}
