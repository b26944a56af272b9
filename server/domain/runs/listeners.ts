/** Adds the changes of runs to commits of articles: deleting an article cancels the runs that write it. */
import { systemActor } from "../../../machines/agentRun.ts";
import type { IndexKey, Storage } from "../../platform/storage/port.ts";
import type { ArticleListeners } from "../articles/port.ts";
import { isActive, type RunKind, runLists, writesArticle } from "./model/records.ts";

/** Number of active runs of a deleted article that are read at once. */
const deletedAtOnce = 100;

export interface RunListenersOptions {
  readonly storage: Pick<Storage, "index">;
  readonly kind: RunKind;
}

export function createRunListeners({ storage, kind }: RunListenersOptions): Pick<ArticleListeners, "articleDeleted"> {
  return {
    async articleDeleted(unit, { articleId }) {
      const scan = { partition: unit.partition, prefix: runLists.activeOfArticle(articleId), limit: deletedAtOnce };
      let after: IndexKey | undefined;
      do {
        const rows = await storage.index.scan(after === undefined ? scan : { ...scan, after });
        for (const { target } of rows) {
          const run = await unit.read(kind, target);
          // Skip a run that ended after the index was read: there is nothing to cancel.
          if (run === undefined || !isActive(run.value) || !writesArticle(run.value)) continue;
          await unit.send(kind, target, { type: "run.cancel", by: systemActor, reason: "The article was deleted." });
        }
        after = rows.length < deletedAtOnce ? undefined : rows.at(-1)?.key;
      } while (after !== undefined);
    },
  };
}
