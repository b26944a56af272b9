/** A menu that a button opens. */
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

interface MenuProps {
  readonly trigger: ReactNode;
  readonly align?: "start" | "end";
  readonly children: ReactNode;
}

const itemClass =
  "flex h-8 cursor-default items-center gap-2 rounded-sm px-2 text-sm outline-none select-none data-[disabled]:text-faint data-[highlighted]:bg-hover";

export function Menu({ trigger, align = "end", children }: MenuProps) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="animate-appear z-40 max-h-[80vh] min-w-44 overflow-auto rounded-md border border-line bg-raised p-1 shadow-float"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface ItemProps {
  readonly onSelect: () => void;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly children: ReactNode;
}

export function MenuItem({ onSelect, isDangerous = false, isDisabled = false, children }: ItemProps) {
  return (
    <DropdownMenu.Item onSelect={onSelect} disabled={isDisabled} className={`${itemClass} ${isDangerous ? "text-danger" : ""}`}>
      {children}
    </DropdownMenu.Item>
  );
}

interface ChoiceProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

/** Items of which one is chosen. */
export function MenuChoice({ value, onChange, options }: ChoiceProps) {
  return (
    <DropdownMenu.RadioGroup value={value} onValueChange={onChange}>
      {options.map((option) => (
        <DropdownMenu.RadioItem key={option.value} value={option.value} className={`${itemClass} pl-7`}>
          <DropdownMenu.ItemIndicator className="-ml-5 w-3">✓</DropdownMenu.ItemIndicator>
          {option.label}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <DropdownMenu.Label className="px-2 py-1.5 text-xs text-faint">{children}</DropdownMenu.Label>;
}

export function MenuLine() {
  return <DropdownMenu.Separator className="-mx-1 my-1 h-px bg-line" />;
}
