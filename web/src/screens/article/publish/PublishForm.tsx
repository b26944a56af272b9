import { useState } from "react";
import type { PublicLinkMode } from "../../../../../api/schema/article.ts";
import { Button } from "../../../ui/button.tsx";
import { faultsOf } from "../../../ui/form.tsx";
import { GlobeIcon } from "../../../ui/icons.tsx";
import type { Failure } from "../../../ui/problem.tsx";
import { newSettings, toChanges } from "./linkSettings.ts";
import { ModeField } from "./ModeField.tsx";
import { SettingsFields } from "./SettingsFields.tsx";
import type { LinkSettings } from "./usePublicLink.ts";

interface PublishFormProps {
  readonly isBusy: boolean;
  readonly error: Failure | null;
  readonly onPublish: (settings: LinkSettings) => void;
}

/** Makes an article public. */
export function PublishForm({ isBusy, error, onPublish }: PublishFormProps) {
  const [mode, setMode] = useState<PublicLinkMode>("live");
  const [settings, setSettings] = useState(newSettings);
  const faults = faultsOf(error);
  return (
    <form
      className="p-4"
      onSubmit={(event) => {
        event.preventDefault();
        onPublish({ mode, ...toChanges(settings, newSettings) });
      }}
    >
      <h3 className="text-base font-semibold">Not public</h3>
      <p className="mt-1 mb-4 text-sm text-muted">A public page has an address that everyone can open, without an account.</p>
      <ModeField mode={mode} isDisabled={isBusy} onChange={setMode} />
      {/* A refused setting must be seen. */}
      <details className="mt-4" {...(Object.keys(faults).length > 0 ? { open: true } : {})}>
        <summary className="mb-3 rounded-sm text-sm text-muted hover:text-text">Address, expiry and checks</summary>
        <SettingsFields draft={settings} faults={faults} isNew onChange={setSettings} />
      </details>
      <Button type="submit" weight="primary" isBusy={isBusy} className="mt-4 w-full">
        <GlobeIcon /> Make public
      </Button>
    </form>
  );
}
