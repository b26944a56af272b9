/**
 * Defines the actor kind of public links, writes the facts of its machine into the log of publications, and provides its
 * effect `sync` and what the timer of the expiry commits.
 *
 * A failed synchronization is an event for the machine and not an error of the actor runtime. The machine controls the
 * waits, the number of attempts and when to give up, so that the link can show them.
 */
import type { Logger } from "pino";
import { AppError } from "../../../api/schema/error.ts";
import {
  type PublicLinkContext,
  type PublicLinkEvent,
  publicLinkCommands,
  publicLinkMachine,
  type ShownFact,
} from "../../../machines/publicLink.ts";
import type { ActorKind, ProvidedKind, UnitOfWork } from "../../platform/actors/port.ts";
import { provide } from "../../platform/actors/provide.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { articleRecord } from "../articles/records.ts";
import type { Freeze } from "./freeze.ts";
import type { GatherLinkChange } from "./linkChange.ts";
import { encodePublication, type PublicationEntry, publicationLog } from "./publicationLog.ts";
import { publicLinkRecord } from "./records.ts";

/** Most synchronizations that run at the same time in this process. */
const maxInFlight = 16;

function append(unit: UnitOfWork, articleId: string, entry: PublicationEntry): void {
  unit.log({ op: "append", log: publicationLog(articleId), entries: [encodePublication(entry)] });
}

export const publicLinkKind: ActorKind<PublicLinkContext, PublicLinkEvent, "sync"> = {
  name: "publicLink",
  machine: publicLinkMachine,
  machineVersion: 1,
  record: publicLinkRecord,
  commands: publicLinkCommands,
  maxInFlight,
  effects: ["sync"],
  facts: {
    shown(unit, { next, nowMs, params }) {
      const shown = params as unknown as ShownFact;
      if (shown !== null) append(unit, next.id, { atMs: nowMs, shown });
    },
    hidden: (unit, { next, nowMs }) => append(unit, next.id, { atMs: nowMs }),
  },
};

export interface PublicLinkEffectsOptions {
  readonly storage: Pick<Storage, "records" | "bus">;
  readonly freeze: Freeze;
  readonly gatherBy: GatherLinkChange;
  readonly log: Logger;
  /** Returns a number from 0 up to, but not including, 1; used as jitter of the retry. */
  readonly random?: () => number;
}

const nothing = new Uint8Array();

export function providePublicLinkEffects({ storage, freeze, gatherBy, log, random = Math.random }: PublicLinkEffectsOptions): ProvidedKind {
  return provide(
    publicLinkKind,
    {
      async sync({ actorId, params }) {
        const { round } = params as { readonly round: number };
        const article = await storage.records.get(articleRecord, actorId);
        // Nothing to do: the commit that deletes the article also unpublishes its link.
        if (article === undefined || article.value.deletedAtMs !== undefined) return { kind: "done" };
        try {
          const content = await freeze.newest(actorId, article.value.title);
          return { kind: "event", event: { type: "sync.succeeded", round, content } };
        } catch (err) {
          log.warn({ err, articleId: actorId }, "live page could not be synchronized");
          const reason = err instanceof AppError ? err.message : "The text of the article could not be read or stored.";
          return { kind: "event", event: { type: "sync.failed", round, reason, jitter: random() } };
        }
      },
    },
    {
      // The expiry belongs to the account that published the article; no request causes it.
      timed: (unit, next, previous) => (next.state === "expired" ? gatherBy(next.context.publishedBy)(unit, next, previous) : undefined),
      committed: ({ id }) => storage.bus.publish(publicationLog(id), nothing),
    },
  );
}
