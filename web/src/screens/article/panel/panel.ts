import type * as Y from "yjs";
import type { ArticleFile } from "../../../../../api/schema/article.ts";
import type { Editor } from "../../../editor/index.ts";

/** What a side panel of the article screen receives. */
export interface ArticlePanel {
  readonly articleId: string;
  readonly workspaceId: string;
  /** The file that the editor shows. */
  readonly file: ArticleFile;
  readonly doc: Y.Doc;
  /** Undefined until the editor is on the page. */
  readonly editor: Editor | undefined;
  /** The person may change the article, its reviews and its public page. */
  readonly canWrite: boolean;
  readonly onClose: () => void;
}
