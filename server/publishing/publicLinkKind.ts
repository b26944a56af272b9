/**
 * The public link as an actor: its machine, its record, and who performs `sync`.
 *
 * A synchronization that fails is an outcome the machine decides about, not a fault of the runtime: the waits, the
 * count and the end are the machine's, so that they show in the link.
 */
import type { Logger } from "pino";
import { AppError } from "../../api/schema/error.ts";
import { type PublicLinkContext, type PublicLinkEvent, publicLinkCommands, publicLinkMachine } from "../../machines/publicLink.ts";
import type { ActorKind } from "../actors/port.ts";
import { articleRecord } from "../articles/records.ts";
import type { Storage } from "../storage/port.ts";
import type { Freeze } from "./freeze.ts";
import { publicLinkRecord } from "./records.ts";

export type PublicLinkKind = ActorKind<PublicLinkContext, PublicLinkEvent>;

export interface PublicLinkKindOptions {
  readonly storage: Pick<Storage, "records">;
  readonly freeze: Freeze;
  readonly log: Logger;
  /** 0 up to 1. */
  readonly random?: () => number;
}

/** Synchronizations that run at once in this process. */
const maxInFlight = 16;

export function createPublicLinkKind({ storage, freeze, log, random = Math.random }: PublicLinkKindOptions): PublicLinkKind {
  return {
    name: "publicLink",
    machine: publicLinkMachine,
    machineVersion: 1,
    record: publicLinkRecord,
    commands: publicLinkCommands,
    maxInFlight,
    effects: {
      async sync({ actorId, params }) {
        const { round } = params as { readonly round: number };
        const article = await storage.records.get(articleRecord, actorId);
        // Its link goes, or has gone, in the commit that deletes it.
        if (article === undefined || article.value.deletedAtMs !== undefined) return { kind: "done" };
        try {
          const content = await freeze.newest(actorId, article.value.title);
          return { kind: "event", event: { type: "sync.succeeded", round, content } };
        } catch (err) {
          log.warn({ err, articleId: actorId }, "a Live page could not be synchronized");
          const reason = err instanceof AppError ? err.message : "The text of the article could not be read or stored.";
          return { kind: "event", event: { type: "sync.failed", round, reason, jitter: random() } };
        }
      },
    },
  };
}
