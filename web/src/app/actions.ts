/**
 * What a person can do right now: each action has a name, for the command palette, and maybe keys. Components add their
 * actions while they are shown.
 */

import { useSelector } from "@xstate/react";
import { createStore } from "@xstate/store";
import { useEffect, useId } from "react";

export interface Action {
  readonly name: string;
  /** Heading in the palette and on the help sheet. */
  readonly group: string;
  /** Keys that run the action: `mod+k` (Ctrl or ⌘), `?`, or two keys one after the other, such as `g a`. */
  readonly keys?: string;
  readonly run: () => void;
}

const actionStore = createStore({
  context: { lists: {} as Readonly<Record<string, readonly Action[]>> },
  on: {
    set: ({ lists }, { owner, actions }: { owner: string; actions: readonly Action[] }) => ({ lists: { ...lists, [owner]: actions } }),
    remove: ({ lists }, { owner }: { owner: string }) => {
      const { [owner]: _removed, ...rest } = lists;
      return { lists: rest };
    },
  },
});

/** Adds actions while the component is shown. `actions` must stay the same object until they change (useMemo). */
export function useActions(actions: readonly Action[]): void {
  const owner = useId();
  useEffect(() => {
    actionStore.trigger.set({ owner, actions });
    return () => actionStore.trigger.remove({ owner });
  }, [owner, actions]);
}

export function useAllActions(): readonly Action[] {
  const lists = useSelector(actionStore, ({ context }) => context.lists);
  return Object.values(lists).flat();
}

/** A second key counts for this long. */
const sequenceMs = 1000;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable='true'], [role='menu']") !== null;
}

/**
 * Runs actions by their keys, except while a dialog is open. Keys without Ctrl or ⌘ do nothing while a person types. The editor
 * handles its own keys first. Call it once.
 */
export function useShortcuts(): void {
  useEffect(() => {
    let first: { readonly key: string; readonly atMs: number } | undefined;
    function onKey(event: KeyboardEvent): void {
      if (event.defaultPrevented || event.altKey || event.isComposing) return;
      const isMod = event.ctrlKey || event.metaKey;
      if (document.querySelector("[role='dialog']") !== null || (!isMod && isTyping(event.target))) return;
      const key = event.key.toLowerCase();
      const recent = first !== undefined && event.timeStamp - first.atMs < sequenceMs ? `${first.key} ${key}` : undefined;
      const actions = Object.values(actionStore.getSnapshot().context.lists).flat();
      const wanted = isMod ? [`mod+${key}`] : [recent, key];
      const found = wanted.flatMap((keys) => actions.filter((action) => keys !== undefined && action.keys === keys))[0];
      first = found === undefined && !isMod ? { key, atMs: event.timeStamp } : undefined;
      if (found === undefined) return;
      event.preventDefault();
      found.run();
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** The keys as the help sheet and tooltips show them. */
export function toKeyNames(keys: string): readonly string[] {
  return keys.split(/[ +]/).map((key) => (key === "mod" ? (isApple ? "⌘" : "Ctrl") : key.length === 1 ? key.toUpperCase() : key));
}
