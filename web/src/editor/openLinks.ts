/** Opens links: with Ctrl or ⌘ and a click, and for readers with a click. */
import { EditorView } from "@codemirror/view";
import { openLink } from "./core/links.ts";

export const openLinks = EditorView.domEventHandlers({
  mousedown(event, view) {
    const isWanted = event.button === 0 && (event.ctrlKey || event.metaKey || view.state.readOnly);
    const link = isWanted && event.target instanceof Element ? event.target.closest<HTMLElement>("[data-address]") : null;
    const address = link?.dataset.address;
    if (address === undefined) return false;
    event.preventDefault();
    openLink(address);
    return true;
  },
});
