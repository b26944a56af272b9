/** Defines the actor kind of public links, and writes the facts of its machine into the log of publications. */
import {
  type PublicLinkContext,
  type PublicLinkEvent,
  publicLinkCommands,
  publicLinkMachine,
  type ShownFact,
} from "../../../machines/publicLink.ts";
import type { ActorKind, UnitOfWork } from "../../platform/actors/port.ts";
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
