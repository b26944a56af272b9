/**
 * ServerClientIds remembers under which Yjs client id this node last wrote in a document, so that the next load continues it
 * instead of adding another id to the document for good (RT114).
 *
 * A client id may have one writer only: with two texts under the same clocks, copies of the document would differ. Therefore
 * an id is random, is known to one process, and is taken out while a room uses it. The room puts it back with the clock that
 * the document has reached, and only if no append is in progress. The next load continues the id only if the log has exactly
 * this clock (`LiveDocument`). After a failed append, a crash or a store that lost batches, the next load makes a new id.
 */
import type { ServerClientId } from "../document/liveDocument.ts";

/** Documents whose id is remembered, about 150 bytes each. A document that is forgotten gets a new id at its next edit. */
const maxRemembered = 50_000;

export class ServerClientIds {
  /** Article id → client id. The entry that was put last is the last one. */
  private readonly ids = new Map<string, ServerClientId>();

  /** Removes and returns the id that this node may continue in the document. */
  take(articleId: string): ServerClientId | undefined {
    const id = this.ids.get(articleId);
    this.ids.delete(articleId);
    return id;
  }

  /** Remembers an id. Call it only when no append is in progress that contains the id. */
  put(articleId: string, id: ServerClientId): void {
    this.ids.set(articleId, id);
    if (this.ids.size <= maxRemembered) return;
    for (const oldest of this.ids.keys()) {
      this.ids.delete(oldest);
      return;
    }
  }
}
