import { useState } from "react";
import type { PublicLink } from "../../../../../api/schema/publicLink.ts";
import { Button } from "../../../ui/button.tsx";
import { faultsOf } from "../../../ui/form.tsx";
import type { Failure } from "../../../ui/problem.tsx";
import { type SettingsDraft, toChanges, toDraft } from "./linkSettings.ts";
import { SettingsFields } from "./SettingsFields.tsx";
import type { LinkSettings } from "./usePublicLink.ts";

interface SettingsFormProps {
  readonly link: PublicLink;
  readonly isBusy: boolean;
  readonly error: Failure | null;
  readonly onSave: (settings: LinkSettings, onSaved: () => void) => void;
}

/** Changes the address, the expiry, the indexing and the checks of a public page. */
export function SettingsForm({ link, isBusy, error, onSave }: SettingsFormProps) {
  const before = toDraft(link);
  const [edits, setEdits] = useState<Partial<SettingsDraft>>({});
  const draft = { ...before, ...edits };
  const changes = toChanges(draft, before);
  const isChanged = Object.keys(changes).length > 0;
  return (
    <form
      className="border-b border-line p-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(changes, () => setEdits({}));
      }}
    >
      <h3 className="mb-3 text-sm font-medium">Settings</h3>
      <SettingsFields draft={draft} faults={faultsOf(error)} isNew={false} onChange={setEdits} />
      <div className="flex gap-2">
        <Button type="submit" weight={isChanged ? "primary" : "normal"} isBusy={isBusy} disabled={!isChanged}>
          Save
        </Button>
        {isChanged && (
          <Button weight="quiet" onClick={() => setEdits({})}>
            Discard
          </Button>
        )}
      </div>
    </form>
  );
}
