/**
 * Writes the Markdown of a conversion into its target: a new article, or the live text of an existing one.
 *
 * The commit of the article, of kind `import`, is a change of the unit that ends the conversion, so both exist or neither
 * does. The account's right to write is read again, because it may have changed since the request.
 */
import { AppError } from "../../../api/schema/error.ts";
import type { ConversionContext, CreatedArticleContext } from "../../../machines/conversion.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Requirement, Storage } from "../../platform/storage/port.ts";
import type { ArticleFolders, ArticleImports, ArticleWriter, DocumentWriting, ImportOrder } from "../articles/port.ts";
import { roleIn } from "../identity/workspaces/access.ts";
import { workspaceRecord } from "../identity/workspaces/records.ts";
import { findFirstHeading } from "./firstHeading.ts";
import { toTitle } from "./requestedTarget.ts";
import type { Failure } from "./sourceFetch.ts";

/** Markdown whose article, if it exists, already has it in its live text. */
export interface ReadyTarget {
  /** Adds the article's commit to the unit. Returns why it is not possible, and then adds nothing. */
  add(unit: UnitOfWork): Promise<Failure | undefined>;
}

export interface Targets {
  /** Throws the errors of `ArticleImports.replace`. `guard` must hold while the live text is changed. */
  prepare(context: ConversionContext, markdown: Uint8Array, guard: Requirement): Promise<ReadyTarget | undefined>;
}

export interface TargetsOptions {
  readonly storage: Pick<Storage, "records">;
  readonly imports: ArticleImports;
  readonly articles: Pick<ArticleWriter, "commit">;
  readonly folders: Pick<ArticleFolders, "requireOpen">;
  readonly writing: Pick<DocumentWriting, "toAcceptable" | "requireFits">;
  readonly ids: IdSource;
}

const noRight: Failure = { code: "insufficient_permission", message: "The account can no longer write in the workspace of the target." };
const gone: Failure = { code: "not_found", message: "The article of the target was deleted." };
const closedFolder: Failure = { code: "not_found", message: "The folder of the target was deleted or archived." };

/** The query of an address may be a signature, and everybody who may read the article reads the message of its commit. */
function withoutSecrets(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

export function createTargets({ storage, imports, articles, folders, writing, ids }: TargetsOptions): Targets {
  async function mayWrite(workspaceId: string, accountId: string): Promise<boolean> {
    const workspace = await storage.records.get(workspaceRecord, workspaceId);
    const role = workspace === undefined ? undefined : roleIn(workspace.value, accountId);
    return role !== undefined && role !== "read";
  }

  async function create(unit: UnitOfWork, order: ImportOrder, { title, folderId }: CreatedArticleContext): Promise<Failure | undefined> {
    try {
      if (folderId !== undefined) await folders.requireOpen(unit, order.workspaceId, folderId);
    } catch (reason) {
      if (reason instanceof AppError && reason.code === "validation_failed") return closedFolder;
      throw reason;
    }
    await imports.create(unit, { ...order, title, folderId });
    return undefined;
  }

  async function commit(unit: UnitOfWork, { articleId, commitId, message, author, traceparent }: ImportOrder, notBefore: number) {
    const order = { articleId, commitId, kind: "import", message, committer: author.username, ids, notBefore, traceparent } as const;
    const { kind } = await articles.commit(unit, order);
    if (kind === "deleted") return gone;
    if (kind === "behind")
      throw new AppError("unavailable", "This node has not yet read the newest edits of the article.", { retryAfter: 1 });
    return undefined;
  }

  return {
    async prepare({ target, workspaceId, accountId, author, baseName, source, traceparent }, markdown, guard) {
      if (target === undefined || workspaceId === undefined) return undefined;
      if (!(await mayWrite(workspaceId, accountId))) return { add: async () => noRight };
      const { articleId, commitId, clientId, baseRevision = 0, created } = target;
      const content = writing.toAcceptable(Buffer.from(markdown).toString("utf8"));
      writing.requireFits(content);
      const message = `Import ${source.fileName ?? withoutSecrets(source.url) ?? baseName}`;
      const order: ImportOrder = { articleId, workspaceId, commitId, message, content, author, clientId, ids, traceparent };
      const heading = created?.isTitleGuessed === true ? await findFirstHeading(content) : undefined;
      const replaced = created === undefined ? await imports.replace({ ...order, baseRevision }, guard) : undefined;
      return {
        async add(unit) {
          // The live text has changed while the account had the right, so the commit that states it follows in any case.
          if (replaced !== undefined) return commit(unit, order, replaced.revision);
          if (!(await mayWrite(workspaceId, accountId))) return noRight;
          return created === undefined
            ? undefined
            : create(unit, order, heading === undefined ? created : { ...created, title: toTitle(heading) });
        },
      };
    },
  };
}
