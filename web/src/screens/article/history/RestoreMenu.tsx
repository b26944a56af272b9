import { useState } from "react";
import type { ArticleFile, Commit } from "../../../../../api/schema/article.ts";
import { Button } from "../../../ui/button.tsx";
import { Question } from "../../../ui/dialog.tsx";
import { ChevronDownIcon, HistoryIcon } from "../../../ui/icons.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { articleFileNames } from "../panel/articleFileNames.ts";
import { SectionDialog } from "./SectionDialog.tsx";
import { useRestore } from "./useHistory.ts";

interface RestoreMenuProps {
  readonly commit: Commit;
  /** The file that is compared. */
  readonly file: ArticleFile;
}

const lead = "The present text stays in the history. What others type meanwhile is kept.";

/** Returns to the text of a commit: as a whole, one file, or one section. */
export function RestoreMenu({ commit: { articleId, commitId, revision }, file }: RestoreMenuProps) {
  const [open, setOpen] = useState<"all" | "file" | "section">();
  const restore = useRestore(articleId);
  const close = () => setOpen(undefined);
  const name = articleFileNames[file].toLowerCase();
  return (
    <>
      <Menu
        align="start"
        trigger={
          <Button>
            <HistoryIcon /> Restore <ChevronDownIcon />
          </Button>
        }
      >
        <MenuItem onSelect={() => setOpen("all")}>The whole article…</MenuItem>
        <MenuItem onSelect={() => setOpen("file")}>Only the {name}…</MenuItem>
        <MenuItem onSelect={() => setOpen("section")}>A section of the {name}…</MenuItem>
      </Menu>
      <Question
        title="Restore the whole article?"
        lead={`Text, outline and research become as they were in this commit. ${lead}`}
        action="Restore"
        isOpen={open === "all"}
        onClose={close}
        onConfirm={() => restore.mutateAsync({ revision })}
      />
      <Question
        title={`Restore the ${name}?`}
        lead={`It becomes as it was in this commit. ${lead}`}
        action="Restore"
        isOpen={open === "file"}
        onClose={close}
        onConfirm={() => restore.mutateAsync({ revision, file })}
      />
      {open === "section" && <SectionDialog {...{ articleId, commitId, revision, file, lead }} onClose={close} />}
    </>
  );
}
