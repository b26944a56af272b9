/** Typists remembers whose changes of a document were stored lately: they count as typing. */
import type { Author } from "../../../api/schema/article.ts";
import type { Clock } from "../../../realtime/ports.ts";

/** An author counts as typing for this time after a change. */
const typingMs = 3000;
/** Most authors of one list, the most recent ones. */
const maxTypists = 100;

export class Typists {
  readonly #clock: Pick<Clock, "now">;
  /** By author, the least recent first. */
  readonly #last = new Map<string, { readonly author: Author; readonly atMs: number }>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  note(changes: readonly { readonly author: Author }[]): void {
    const atMs = this.#clock.now();
    for (const { author } of changes) {
      const key = `${author.kind}/${author.username}`;
      // Delete first: a Map keeps the position of an existing key.
      this.#last.delete(key);
      this.#last.set(key, { author: { username: author.username, kind: author.kind }, atMs });
    }
  }

  /** The authors that type now, the most recent one last. */
  list(): readonly Author[] {
    this.#forget();
    return [...this.#last.values()].slice(-maxTypists).map(({ author }) => author);
  }

  /** When the least recent author stops to count as typing. Undefined without authors who type. */
  get endMs(): number | undefined {
    this.#forget();
    const [first] = this.#last.values();
    return first === undefined ? undefined : first.atMs + typingMs;
  }

  #forget(): void {
    const sinceMs = this.#clock.now() - typingMs;
    for (const [key, { atMs }] of this.#last) {
      if (atMs > sinceMs) break;
      this.#last.delete(key);
    }
  }
}
