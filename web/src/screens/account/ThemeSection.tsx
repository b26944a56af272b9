import { useSelector } from "@xstate/react";
import { type Theme, themeStore } from "../../app/theme.ts";
import { RadioGroup } from "../../ui/choices.tsx";
import { Section } from "../../ui/section.tsx";

const themes: readonly { readonly value: Theme; readonly label: string }[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export function ThemeSection() {
  const theme = useSelector(themeStore, ({ context }) => context.theme);
  return (
    <Section title="Appearance" lead="The choice belongs to this browser.">
      <RadioGroup label="Theme" value={theme} options={themes} onChange={(chosen) => themeStore.trigger.choose({ theme: chosen })} />
    </Section>
  );
}
