/**
 * ArticleActivity reports the activity in a document to the streams that watch it: members that join and leave, and, at most
 * once a second, the revision, the number of words and the users who type.
 *
 * No report is stored. An article without such a stream costs nothing, and another one only while it changes.
 * Members come from the rooms, which know them by their credentials, so no client can appear as another one.
 */
import type { Author } from "../../../api/schema/article.ts";
import type { ArticleSignalData, PresentClient } from "../../../api/schema/articleEvent.ts";
import type { Clock } from "../../../realtime/ports.ts";
import type { PresentMember } from "../../../realtime/presence/remotePresence.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import { Typists } from "./typists.ts";
import { WordCounter } from "./wordCounter.ts";

/** The reports of a watch. `actor` is the username of the account that caused the report. */
export type Activity =
  | { readonly event: "document.live"; readonly actor: string; readonly data: ArticleSignalData["document.live"] }
  | { readonly event: "presence.joined" | "presence.left"; readonly actor: string; readonly data: ArticleSignalData["presence.joined"] };

export interface ArticleActivity {
  /** The connections to a document on all nodes, the oldest first. */
  clients(articleId: string): Promise<readonly PresentClient[]>;
  /** Calls `report` until the returned function is called. Members that are present already are not reported. */
  watch(articleId: string, report: (activity: Activity) => void): () => void;
}

export interface ArticleActivityOptions {
  readonly rooms: Pick<Rooms, "gatherPresence" | "presence" | "read" | "watch">;
  readonly clock: Clock;
  readonly texts: Pick<ArticleTexts, "countWords">;
}

/** Shortest time between two reports of the text. */
const liveMs = 1000;
/** The text is read for at most this share of the time, because a long text takes longer. */
const maxReadShare = 0.02;
/** Changes of members are gathered for this time. */
const membersMs = 100;
/** Owner of the counting of words in the queue of the threads, so that it does not wait behind a workspace's requests. */
const owner = "streams";

export function createArticleActivity(options: ArticleActivityOptions): ArticleActivity {
  return {
    clients: async (articleId) => toClients(await options.rooms.gatherPresence(articleId)),
    watch(articleId, report) {
      const watch = new WatchedArticle(options, articleId, report);
      return () => watch.close();
    },
  };
}

function toClients(members: readonly PresentMember[]): readonly PresentClient[] {
  return members
    .map(({ username, kind, mode, sinceMs }) => ({ username, kind: kind as Author["kind"], mode, since: sinceMs / 1000 }))
    .toSorted((one, other) => one.since - other.since || (one.username < other.username ? -1 : 1));
}

class WatchedArticle {
  readonly #options: ArticleActivityOptions;
  readonly #articleId: string;
  readonly #report: (activity: Activity) => void;
  readonly #unwatch: () => void;
  readonly #typists: Typists;
  readonly #words: WordCounter;
  /** The members that were reported or were there before. Undefined until the other nodes have answered. */
  #known: readonly PresentClient[] | undefined;
  #revision = 0;
  /** Author of the newest change. The authors of changes that this node read as one state are unknown. */
  #lastActor = "system";
  /** The last report of the text, without the number of words. */
  #reported = "";
  #nextLiveMs = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #isClosed = false;
  #cancelLive: (() => void) | undefined;
  #cancelQuiet: (() => void) | undefined;
  #cancelMembers: (() => void) | undefined;

  constructor(options: ArticleActivityOptions, articleId: string, report: (activity: Activity) => void) {
    this.#options = options;
    this.#articleId = articleId;
    this.#report = report;
    this.#typists = new Typists(options.clock);
    this.#words = new WordCounter(options.texts, owner);
    this.#unwatch = options.rooms.watch(articleId, {
      changed: (revision, changes) => {
        this.#revision = Math.max(this.#revision, revision);
        for (const { author } of changes) this.#lastActor = author.username;
        this.#typists.note(changes);
        this.#scheduleLive();
      },
      membersChanged: () => this.#scheduleMembers(),
    });
    const heard = (members: readonly PresentMember[]) => {
      this.#known = toClients(members);
      this.#scheduleMembers();
    };
    // If the document cannot be opened now, the members that this node knows are the beginning.
    options.rooms.gatherPresence(articleId).then(heard, () => heard(options.rooms.presence(articleId)));
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    this.#cancelLive?.();
    this.#cancelQuiet?.();
    this.#cancelMembers?.();
  }

  #scheduleMembers(): void {
    if (this.#known === undefined || this.#isClosed) return;
    this.#cancelMembers ??= this.#options.clock.after(membersMs, () => {
      this.#cancelMembers = undefined;
      this.#reportMembers();
    });
  }

  #reportMembers(): void {
    const before = this.#known ?? [];
    const now = toClients(this.#options.rooms.presence(this.#articleId));
    this.#known = now;
    for (const client of without(before, now)) this.#report({ event: "presence.left", actor: client.username, data: { client } });
    for (const client of without(now, before)) this.#report({ event: "presence.joined", actor: client.username, data: { client } });
  }

  #scheduleLive(): void {
    if (this.#isClosed || this.#isReading) return;
    const { clock } = this.#options;
    this.#cancelLive ??= clock.after(Math.max(0, this.#nextLiveMs - clock.now()), () => {
      this.#cancelLive = undefined;
      void this.#reportLive();
    });
  }

  async #reportLive(): Promise<void> {
    const { rooms, clock } = this.#options;
    const seen = this.#revision;
    this.#isReading = true;
    this.#nextLiveMs = clock.now() + liveMs;
    try {
      let readMs = 0;
      const { revision, text } = await rooms.read(this.#articleId, (document, revision) => {
        const startedMs = performance.now();
        const text = document.getText("content.md").toString();
        readMs = performance.now() - startedMs;
        return { revision, text };
      });
      this.#nextLiveMs = Math.max(this.#nextLiveMs, clock.now() + readMs / maxReadShare);
      const wordCount = await this.#words.count(text);
      const typing = this.#typists.list();
      const reported = JSON.stringify([revision, typing]);
      if (this.#isClosed || reported === this.#reported) return;
      this.#reported = reported;
      this.#report({ event: "document.live", actor: this.#lastActor, data: { revision, wordCount, typing: [...typing] } });
    } catch {
      // The document cannot be read now, or too many texts are being counted. The next change is reported again.
    } finally {
      this.#isReading = false;
      if (!this.#isClosed) this.#continue(seen);
    }
  }

  /** Schedules the next report: of changes that came meanwhile, or of the moment when the last typist has stopped. */
  #continue(seen: number): void {
    if (this.#revision > seen) {
      this.#scheduleLive();
      return;
    }
    const { clock } = this.#options;
    const { endMs } = this.#typists;
    this.#cancelQuiet?.();
    this.#cancelQuiet = endMs === undefined ? undefined : clock.after(endMs - clock.now(), () => this.#scheduleLive());
  }
}

/** The clients of `all` that `others` lacks. Equal clients are counted: two tabs may have joined at the same moment. */
function without(all: readonly PresentClient[], others: readonly PresentClient[]): readonly PresentClient[] {
  const left = new Map<string, number>();
  for (const client of others) {
    const key = JSON.stringify(client);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  return all.filter((client) => {
    const key = JSON.stringify(client);
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count <= 0;
  });
}
