/** True where a panel is shown over the text instead of beside it (breakpoint `md`): it closes to show a place. */
export function isOverText(): boolean {
  return !window.matchMedia("(min-width: 48rem)").matches;
}
