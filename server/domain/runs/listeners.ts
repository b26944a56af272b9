/** Adds the changes of runs to commits of articles: deleting an article cancels the runs that write it. */
import { systemActor } from "../../../machines/agentRun.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleListeners } from "../articles/port.ts";
import { joinParts } from "../call/together.ts";
import { isActive, type RunKind, runLists, runRecord, writesArticle } from "./model/records.ts";

const maxDeleted = 1000;
const reason = "The article was deleted.";

export interface RunListenersOptions {
  readonly storage: Pick<Storage, "records" | "index">;
  readonly actors: Pick<ActorRuntime, "move">;
  readonly kind: RunKind;
}

export function createRunListeners({ storage, actors, kind }: RunListenersOptions): Pick<ArticleListeners, "articleDeleted"> {
  return {
    async articleDeleted({ articleId }) {
      const partition = partitionOfId(articleId);
      const rows = await storage.index.scan({ partition, prefix: runLists.activeOfArticle(articleId), limit: maxDeleted });
      const runs = await storage.records.getMany(
        runRecord,
        rows.map(({ target }) => target),
      );
      // Skip runs that ended after the index was read: there is nothing to cancel.
      const writing = runs.filter((stored) => stored !== undefined && isActive(stored.value) && writesArticle(stored.value));
      return joinParts(
        writing.flatMap((stored) =>
          stored === undefined ? [] : [actors.move(kind, stored, { type: "run.cancel", by: systemActor, reason })],
        ),
      );
    },
  };
}
