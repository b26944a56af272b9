import type { ReactNode } from "react";
import { toKeyNames } from "../../app/actions.ts";
import type { CommandName, Editor } from "../../editor/index.ts";
import { IconButton } from "../../ui/button.tsx";
import {
  BoldIcon,
  CodeIcon,
  HeadingIcon,
  ImageIcon,
  ItalicIcon,
  LinkIcon,
  ListIcon,
  NumberedIcon,
  QuoteIcon,
  SearchIcon,
  StrikeIcon,
  TableIcon,
  TaskIcon,
} from "../../ui/icons.tsx";

interface Tool {
  readonly command: CommandName;
  readonly label: string;
  readonly icon: ReactNode;
  readonly keys?: string;
}

const groups: readonly (readonly Tool[])[] = [
  [
    { command: "heading2", label: "Heading", icon: <HeadingIcon /> },
    { command: "bold", label: "Bold", icon: <BoldIcon />, keys: "mod+b" },
    { command: "italic", label: "Italic", icon: <ItalicIcon />, keys: "mod+i" },
    { command: "strike", label: "Strikethrough", icon: <StrikeIcon /> },
    { command: "code", label: "Code", icon: <CodeIcon />, keys: "mod+e" },
  ],
  [
    { command: "bulletList", label: "List", icon: <ListIcon /> },
    { command: "orderedList", label: "Numbered list", icon: <NumberedIcon /> },
    { command: "taskList", label: "Tasks", icon: <TaskIcon /> },
    { command: "quote", label: "Quotation", icon: <QuoteIcon /> },
  ],
  [
    { command: "link", label: "Link", icon: <LinkIcon />, keys: "mod+k" },
    { command: "image", label: "Image", icon: <ImageIcon /> },
    { command: "table", label: "Table", icon: <TableIcon /> },
  ],
  [{ command: "find", label: "Find and replace", icon: <SearchIcon />, keys: "mod+f" }],
];

/** Buttons for what can be written. Each runs a command of the editor and gives it the focus back. */
export function Toolbar({ editor, isDisabled }: { readonly editor: Editor | undefined; readonly isDisabled: boolean }) {
  return (
    <div role="toolbar" aria-label="Formatting" className="flex flex-wrap items-center gap-0.5">
      {groups.map((tools, index) => (
        <div key={tools[0]?.command} className={`flex gap-0.5 ${index > 0 ? "ml-1 border-l border-line pl-1" : ""}`}>
          {tools.map(({ command, label, icon, keys }) => (
            <IconButton
              key={command}
              label={label}
              {...(keys === undefined ? {} : { shortcut: toKeyNames(keys).join(" ") })}
              disabled={editor === undefined || (isDisabled && command !== "find")}
              // The editor keeps its selection.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => editor?.runCommand(command)}
            >
              {icon}
            </IconButton>
          ))}
        </div>
      ))}
    </div>
  );
}
