/** The theme: light, dark, or that of the system. The choice belongs to this browser. */
import { createStore } from "@xstate/store";

export type Theme = "system" | "light" | "dark";

const name = "theme";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function stored(): Theme {
  const value = localStorage.getItem(name);
  return value === "light" || value === "dark" ? value : "system";
}

export const themeStore = createStore({
  context: { theme: stored() },
  on: { choose: (_state, { theme }: { theme: Theme }) => ({ theme }) },
});

function show(): void {
  const { theme } = themeStore.getSnapshot().context;
  const isDark = theme === "dark" || (theme === "system" && systemIsDark.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}

themeStore.subscribe(({ context }) => {
  if (context.theme === "system") localStorage.removeItem(name);
  else localStorage.setItem(name, context.theme);
  show();
});
systemIsDark.addEventListener("change", show);
