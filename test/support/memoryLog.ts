/** An `UpdateLog` in memory whose appends a test can hold back or fail. */
import type { AuthoredUpdate, LoggedBatch, UpdateLog } from "../../realtime/ports.ts";

interface Article {
  batches: LoggedBatch[];
  trimmedTo: number;
  revision: number;
  state: { revision: number; bytes: Uint8Array; stateVector: Uint8Array | undefined } | undefined;
  isDeleted: boolean;
}

export interface MemoryLog extends UpdateLog {
  /** From now on appends wait, in order. */
  hold(): void;
  /** Runs the first `count` waiting appends and resolves when they have run. Without `count`: all, and later ones do not wait. */
  release(count?: number): Promise<void>;
  /** Makes the next append fail before it writes. */
  failNext(error?: Error): void;
  deleteArticle(articleId: string): void;
  /** Raises the fence of a lease: appends under an older fence are refused. */
  raiseFence(id: string, fence: number): void;
  /** Removes the batches up to a revision, as if only the snapshot had them. */
  trim(articleId: string, through: number): void;
  batches(articleId: string): readonly LoggedBatch[];
  state(articleId: string): { revision: number; bytes: Uint8Array; stateVector: Uint8Array | undefined } | undefined;
  readonly waiting: number;
  readonly loads: number;
}

/** `writer` is the id of the node that writes this log. With `shared`, several nodes write the same articles. */
export function createMemoryLog({ writer = "node", shared }: { writer?: string; shared?: MemoryLogStore } = {}): MemoryLog {
  const articles = shared?.articles ?? new Map<string, Article>();
  let isHolding = false;
  let failure: Error | undefined;
  let loads = 0;
  const waiting: (() => void)[] = [];
  const fences = new Map<string, number>();

  function article(articleId: string): Article {
    const found = articles.get(articleId) ?? { batches: [], trimmedTo: 0, revision: 0, state: undefined, isDeleted: false };
    articles.set(articleId, found);
    return found;
  }

  return {
    isShared: shared !== undefined,
    async load(articleId) {
      loads += 1;
      await Promise.resolve();
      const { batches, state, revision } = article(articleId);
      const tail = batches.filter((batch) => batch.revision > (state?.revision ?? 0));
      return {
        revision,
        tail,
        ...(state === undefined ? {} : { state: state.bytes }),
        ...(state?.stateVector === undefined ? {} : { stateVector: state.stateVector }),
      };
    },
    async tail(articleId) {
      await Promise.resolve();
      return article(articleId).revision;
    },
    async append(articleId, updates: readonly AuthoredUpdate[], guard, after) {
      if (isHolding) await new Promise<void>((resolve) => waiting.push(resolve));
      else await Promise.resolve();
      if (failure !== undefined) {
        const error = failure;
        failure = undefined;
        throw error;
      }
      const found = article(articleId);
      if (found.isDeleted) return { kind: "deleted" };
      if (guard !== undefined && guard.fence < (fences.get(guard.id) ?? 0)) return { kind: "fenced" };
      if (after !== undefined && found.revision !== after) return { kind: "behind" };
      found.revision += 1;
      found.batches.push({ revision: found.revision, writer, updates: [...updates] });
      return { kind: "appended", revision: found.revision };
    },
    async readAfter(articleId, revision) {
      await Promise.resolve();
      const found = article(articleId);
      if (revision < found.trimmedTo) return { gap: true };
      return { gap: false, batches: found.batches.filter((batch) => batch.revision > revision) };
    },
    async saveState(articleId, revision, bytes, stateVector) {
      await Promise.resolve();
      article(articleId).state = { revision, bytes, stateVector };
    },
    hold() {
      isHolding = true;
    },
    async release(count = Number.POSITIVE_INFINITY) {
      if (count === Number.POSITIVE_INFINITY) isHolding = false;
      for (const resolve of waiting.splice(0, count)) resolve();
      for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    },
    failNext(error = new Error("the store is gone")) {
      failure = error;
    },
    raiseFence(id, fence) {
      fences.set(id, fence);
    },
    deleteArticle(articleId) {
      article(articleId).isDeleted = true;
    },
    trim(articleId, through) {
      const found = article(articleId);
      found.batches = found.batches.filter((batch) => batch.revision > through);
      found.trimmedTo = through;
    },
    batches: (articleId) => article(articleId).batches,
    state: (articleId) => article(articleId).state,
    get waiting() {
      return waiting.length;
    },
    get loads() {
      return loads;
    },
  };
}

/** Articles shared by several logs. */
export interface MemoryLogStore {
  readonly articles: Map<string, Article>;
}

export function createMemoryLogStore(): MemoryLogStore {
  return { articles: new Map() };
}
