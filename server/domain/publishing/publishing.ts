/**
 * Builds the publishing domain for the handlers, the articles, the page routes, the actor runtime and the due pump.
 */
import type { Logger } from "pino";
import type { DueWorker } from "../../platform/actors/duePort.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { Directory } from "../../platform/storage/directory.ts";
import type { Partition, Storage } from "../../platform/storage/port.ts";
import type { ArmAtEdit, ArticleListeners, Documents } from "../articles/port.ts";
import type { Pager } from "../call/paging.ts";
import type { AccessWatch } from "../identity/access/accessFacts.ts";
import { createFreeze } from "./freeze.ts";
import { createPublicLinks, type PublicLinks } from "./links.ts";
import { createArmAtEdit, createLiveEdits, editedRows } from "./liveEdits.ts";
import { createPublicLinkKind, type PublicLinkKind } from "./publicLinkKind.ts";
import { createPublicPages, type PublicPages } from "./publicPages.ts";
import { createSlugs } from "./slugs.ts";
import { collectRows, createTakeDown } from "./takeDown.ts";

export type { LinkView, PublicLinks } from "./links.ts";
export type { FoundPage, PublicPages, PublishedPage } from "./publicPages.ts";

export interface PublishingOptions {
  readonly storage: Storage;
  readonly actors: ActorRuntime;
  readonly directory: Directory;
  readonly documents: Documents;
  readonly access: AccessWatch;
  readonly pager: Pager;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** `DuePump.wake`. */
  readonly wake: (partition: Partition, dueAtMs: number) => void;
  readonly log: Logger;
}

export interface Publishing {
  readonly links: PublicLinks;
  readonly pages: PublicPages;
  /** For the actor runtime. */
  readonly actorKinds: readonly [PublicLinkKind];
  /** Kind of due row → its worker, for the due pump. */
  readonly workers: Readonly<Record<string, DueWorker>>;
  readonly armAtEdit: ArmAtEdit;
  readonly articleDeleted: ArticleListeners["articleDeleted"];
}

export function createPublishing(options: PublishingOptions): Publishing {
  const { storage, actors, directory, documents, access, log } = options;
  const freeze = createFreeze({ documents, storage });
  const slugs = createSlugs({ storage, directory });
  const kind = createPublicLinkKind({ storage, freeze, log });
  const takeDown = createTakeDown({ storage, actors, kind });
  return {
    links: createPublicLinks({ ...options, kind, freeze, slugs }),
    pages: createPublicPages({ storage, slugs, access }),
    actorKinds: [kind],
    workers: { [editedRows.name]: createLiveEdits({ storage, actors, kind }), [collectRows.name]: takeDown.collect },
    armAtEdit: createArmAtEdit(options),
    articleDeleted: takeDown.articleDeleted,
  };
}
