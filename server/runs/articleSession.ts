/**
 * How a step writes into the live article: as one more author, whom everybody sees.
 *
 * First goes what earlier attempts of the step typed and did not finish, and nothing else. Where the file was blank when
 * the first attempt began, the text streams as it is made, behind what the step wrote last, wherever that has got to.
 * Where it held a text nothing is put before the end: then the whole new text is merged against the one the first attempt
 * began with. So what people wrote since, in whichever attempt, stays. It refuses to know what the text says.
 */
import * as Y from "yjs";
import type { ArticleFile, Author } from "../../api/schema/article.ts";
import type { WriteGuard } from "../../realtime/ports.ts";
import type { Participant, Rooms } from "../../realtime/rooms.ts";
import type { After } from "../actors/after.ts";
import type { Documents, DocumentWriting, FileTexts } from "../articles/port.ts";

export interface ArticleSession {
  /** Live texts when the step began to write; the file it writes as it was when its first attempt began. */
  readonly texts: FileTexts;
  /**
   * Takes the next piece of the text; where it streams, it is written in the background, at most every `batchMs`. Waits
   * only while more than `brakeCharacters` are not durable yet. A write that failed is thrown by whatever is called next.
   */
  write(text: string): Promise<void>;
  /** Makes `text` the file's whole text, but for what others wrote meanwhile. */
  finish(text: string): Promise<{ readonly revision: number }>;
  /** Nothing is written any more. */
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
  /** Those of earlier attempts. */
  readonly earlierWriters: readonly number[];
  /** The file's text when the first attempt began; absent where that is not known any more: then it is the live one. */
  readonly before: string | undefined;
  readonly guard: WriteGuard;
}

/** What is written within this time goes into one update. */
const batchMs = 75;
/** What may wait to be written: more than the fastest models say in a batch's time, and little enough to be seen growing. */
const brakeCharacters = 1000;
const highSurrogateAtEnd = /[\ud800-\udbff]$/;
/** Of a pair, waiting for its other half. */
const isHalf = (text: string) => text.length === 1 && highSurrogateAtEnd.test(text);

export async function openArticleSession(options: ArticleSessionOptions): Promise<ArticleSession> {
  const { rooms, documents, articleId, author, displayName, writer, earlierWriters, guard } = options;
  const participant = await rooms.participate(articleId, { author, displayName, clientId: writer, guard });
  try {
    if (earlierWriters.length > 0) await participant.takeBack(earlierWriters);
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
  /** Behind the last character that was streamed. */
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
    if (this.#closed) throw new Error("a step writes after its end");
  }

  async #read(): Promise<{ readonly revision: number; readonly live: string }> {
    const { documents, articleId, file } = this.#options;
    const { revision, texts } = await documents.read(articleId);
    return { revision, live: texts[file] };
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.reason;
  }

  /** Until nothing waits; never rejects, for nobody may be waiting for it. */
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
    // Half a pair waits for its other half.
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
      // Holds on to the character before it: what others put behind that is behind the next text too.
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
