/**
 * Writes the text of a step into the live article as one more visible author.
 *
 * It first reverts the unfinished text of earlier attempts of the step. If the file was blank when the first attempt
 * began, new text streams into the file, after the last streamed text. Otherwise nothing is written until the end; then
 * the complete new text is merged against the base of the first attempt. Edits that people made during any attempt are
 * therefore kept. The module does not interpret the text.
 */
import * as Y from "yjs";
import type { ArticleFile, Author } from "../../../../api/schema/article.ts";
import type { WriteGuard } from "../../../../realtime/ports.ts";
import type { Participant, Rooms } from "../../../../realtime/room/rooms.ts";
import type { After } from "../../../platform/actors/after.ts";
import type { Documents, DocumentWriting, FileTexts } from "../../articles/port.ts";

export interface ArticleSession {
  /**
   * Live texts when the step began to write. The file that the step writes has its text from the start of the first
   * attempt.
   */
  readonly texts: FileTexts;
  /**
   * Accepts the next piece of the text. If the session streams, the piece is written in the background, at most once
   * every `batchMs`. The promise waits only while more than `brakeCharacters` are not durable yet (backpressure). The
   * next call throws the error of a failed write.
   */
  write(text: string): Promise<void>;
  /** Makes `text` the complete text of the file, except for concurrent edits by other authors, which stay. */
  finish(text: string): Promise<{ readonly revision: number }>;
  /** Ends the session; later writes throw. */
  close(): void;
}

export interface ArticleSessionOptions {
  readonly rooms: Pick<Rooms, "participate">;
  readonly documents: Pick<Documents, "read">;
  readonly writing: DocumentWriting;
  readonly after: After;
  readonly now: () => number;
  readonly articleId: string;
  readonly workspaceId: string;
  readonly file: ArticleFile;
  readonly author: Author;
  readonly displayName: string;
  /** Yjs client id of this attempt. */
  readonly writer: number;
  /** Yjs client ids of the earlier attempts. */
  readonly earlierWriters: readonly number[];
  /**
   * The file's text when the first attempt began. Absent if that revision is no longer available; then the live text is
   * used.
   */
  readonly before: string | undefined;
  readonly guard: WriteGuard;
}

/** Minimum time between two updates. Text that arrives in between goes into one update. */
const batchMs = 75;
/**
 * Maximum number of characters that wait without backpressure. Fast models produce less in one batch interval, and
 * readers still see the text grow.
 */
const brakeCharacters = 1000;
const highSurrogateAtEnd = /[\ud800-\udbff]$/;
/** True for the first half of a surrogate pair whose second half has not arrived. */
const isHalf = (text: string) => text.length === 1 && highSurrogateAtEnd.test(text);

export async function openArticleSession(options: ArticleSessionOptions): Promise<ArticleSession> {
  const { rooms, documents, articleId, author, displayName, writer, earlierWriters, guard } = options;
  const participant = await rooms.participate(articleId, { author, displayName, clientId: writer, guard });
  try {
    if (earlierWriters.length > 0) await participant.revert(earlierWriters);
    const { texts } = await documents.read(articleId);
    return new StepWriting(options, participant, texts);
  } catch (error) {
    participant.leave();
    throw error;
  }
}

class StepWriting implements ArticleSession {
  readonly texts: FileTexts;
  readonly #options: ArticleSessionOptions;
  readonly #participant: Participant;
  readonly #before: string;
  readonly #streams: boolean;
  #streamed = "";
  #waiting = "";
  #revision: number | undefined;
  /** Position after the last streamed character. */
  #place: Y.RelativePosition | undefined;
  #lastFlushMs = 0;
  #flushing: Promise<void> | undefined;
  #failure: { readonly reason: unknown } | undefined;
  #closed = false;

  constructor(options: ArticleSessionOptions, participant: Participant, texts: FileTexts) {
    this.#options = options;
    this.#participant = participant;
    this.#before = options.before ?? texts[options.file];
    this.texts = { ...texts, [options.file]: this.#before };
    this.#streams = this.#before.trim() === "";
  }

  async write(text: string): Promise<void> {
    this.#requireOpen();
    this.#throwFailure();
    if (!this.#streams || text === "") return;
    this.#waiting += text;
    this.#flushing ??= this.#flushWaiting();
    if (this.#waiting.length > brakeCharacters) await this.#flushing;
    this.#throwFailure();
  }

  async finish(text: string): Promise<{ readonly revision: number }> {
    this.#requireOpen();
    await this.#flushing;
    this.#throwFailure();
    await this.#flush(true);
    const wanted = this.#options.writing.toAcceptable(text);
    const base = this.#before + this.#streamed;
    if (wanted !== base || this.#revision === undefined) await this.#merge(base, wanted);
    return { revision: this.#revision ?? (await this.#read()).revision };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#participant.leave();
  }

  #requireOpen(): void {
    if (this.#closed) throw new Error("the step wrote after its end");
  }

  async #read(): Promise<{ readonly revision: number; readonly live: string }> {
    const { documents, articleId, file } = this.#options;
    const { revision, texts } = await documents.read(articleId);
    return { revision, live: texts[file] };
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.reason;
  }

  /**
   * Flushes until no text waits. It never rejects, because its promise may have no awaiter; the next call throws the
   * error.
   */
  async #flushWaiting(): Promise<void> {
    const { after, now } = this.#options;
    try {
      while (this.#waiting !== "" && !isHalf(this.#waiting) && !this.#closed) {
        const waitMs = this.#lastFlushMs + batchMs - now();
        if (waitMs > 0) await new Promise<void>((resolve) => void after(waitMs, resolve));
        if (!this.#closed) await this.#flush(false);
      }
    } catch (reason) {
      this.#failure = { reason };
    } finally {
      this.#flushing = undefined;
    }
  }

  async #flush(whole: boolean): Promise<void> {
    // Keep back the first half of a surrogate pair until its second half arrives.
    const held = whole ? "" : (highSurrogateAtEnd.exec(this.#waiting)?.[0] ?? "");
    const { file, writing, now } = this.#options;
    const text = writing.toAcceptable(this.#waiting.slice(0, this.#waiting.length - held.length));
    this.#waiting = held;
    if (text === "") return;
    this.#requireOpen();
    writing.requireFits(this.#streamed + text);
    const edited = await this.#participant.edit((document) => {
      const live = document.getText(file);
      const found = this.#place === undefined ? undefined : Y.createAbsolutePositionFromRelativePosition(this.#place, document);
      const at = found?.type === live ? found.index : live.length;
      live.insert(at, text);
      // The position is bound to the character before it. Text that others insert there therefore comes after the next
      // streamed text.
      this.#place = Y.createRelativePositionFromTypeIndex(live, at + text.length, -1);
    });
    this.#streamed += text;
    this.#revision = edited.revision;
    this.#lastFlushMs = now();
  }

  async #merge(base: string, content: string): Promise<void> {
    const { writing, workspaceId, file } = this.#options;
    const { live, revision } = await this.#read();
    this.#revision = revision;
    if (content === base) return;
    const change = await writing.carry(workspaceId, { base, content, live });
    this.#requireOpen();
    if (change === undefined) return;
    const edited = await this.#participant.edit((document) => change(document.getText(file)));
    this.#revision = edited.revision;
  }
}
