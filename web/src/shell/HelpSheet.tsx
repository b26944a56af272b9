import { toKeyNames, useAllActions } from "../app/actions.ts";
import { Dialog } from "../ui/dialog.tsx";

/** All shortcuts that work at this moment, by group. */
export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
  const actions = useAllActions().filter(({ keys }) => keys !== undefined);
  const groups = [...Map.groupBy(actions, ({ group }) => group)];
  return (
    <Dialog title="Shortcuts" isOpen isWide onClose={onClose}>
      <div className="grid gap-x-10 gap-y-5 sm:grid-cols-2">
        {groups.map(([group, entries]) => (
          <section key={group}>
            <h3 className="mb-1.5 text-xs font-medium text-faint">{group}</h3>
            <dl>
              {entries.map(({ name, keys }) => (
                <div key={name} className="flex items-center justify-between gap-4 py-1 text-sm">
                  <dt>{name}</dt>
                  <dd className="flex gap-1">
                    {toKeyNames(keys ?? "").map((key) => (
                      <kbd key={key} className="min-w-5 rounded-sm border border-line px-1 text-center font-sans text-xs text-muted">
                        {key}
                      </kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
