/**
 * RoomWatches keeps the watches of documents. A stream of an article watches its document without being a member of its room.
 *
 * A watch belongs to the article and not to a room, so it continues when a room ends and is opened again. A document
 * without a watch costs one lookup in an empty map for each batch.
 */
import type { Author } from "../../api/schema/article.ts";

export interface RoomWatch {
  /** The document is at this revision. `changes` has the author of each change that led to it, as far as they are known. */
  changed(revision: number, changes: readonly { readonly author: Author }[]): void;
  /** Members joined or left on any node. */
  membersChanged(): void;
}

export class RoomWatches {
  private readonly watches = new Map<string, Set<RoomWatch>>();

  add(articleId: string, watch: RoomWatch): void {
    const known = this.watches.get(articleId);
    if (known === undefined) this.watches.set(articleId, new Set([watch]));
    else known.add(watch);
  }

  delete(articleId: string, watch: RoomWatch): void {
    const known = this.watches.get(articleId);
    known?.delete(watch);
    if (known?.size === 0) this.watches.delete(articleId);
  }

  has(articleId: string): boolean {
    return this.watches.has(articleId);
  }

  /** The watched articles. */
  articles(): Iterable<string> {
    return this.watches.keys();
  }

  get isEmpty(): boolean {
    return this.watches.size === 0;
  }

  changed(articleId: string, revision: number, changes: readonly { readonly author: Author }[]): void {
    for (const watch of this.watches.get(articleId) ?? []) watch.changed(revision, changes);
  }

  membersChanged(articleId: string): void {
    for (const watch of this.watches.get(articleId) ?? []) watch.membersChanged();
  }
}
