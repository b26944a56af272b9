import type { Workspace } from "../../../../api/schema/workspace.ts";
import { Section } from "../../ui/section.tsx";
import { othersOf } from "./styles.ts";

/** The settings that only programs read: they are shown here, and changed through the API. */
export function OtherSettings({ settings }: { readonly settings: Workspace["settings"] }) {
  const others = othersOf(settings);
  if (Object.keys(others).length === 0) return null;
  return (
    <Section level={3} title="Other settings" lead="Programs keep these values with the workspace. They are changed through the API.">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
      <pre tabIndex={0} className="max-h-80 overflow-auto rounded-md bg-code p-3 font-mono text-xs">
        {JSON.stringify(others, null, 2)}
      </pre>
    </Section>
  );
}
