/** Builds the publishing domain for the handlers and the page routes. `listeners.ts` holds its part in commits of articles. */
import type { Logger } from "pino";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { Directory } from "../../platform/storage/directory.ts";
import type { Partition, Storage } from "../../platform/storage/port.ts";
import type { ArticleEvents, Documents } from "../articles/port.ts";
import type { Pager } from "../call/paging.ts";
import type { AccessWatch } from "../identity/access/accessFacts.ts";
import { createFreeze } from "./freeze.ts";
import { type CheckText, createPublishGate } from "./gate.ts";
import { createReportFindings, type ReportFindings } from "./gateReport.ts";
import { createGatherLinkChange } from "./linkChange.ts";
import { createLinkList, type ListLinks } from "./linkList.ts";
import { createPublicLinks, type PublicLinks } from "./links.ts";
import { createLiveEdits, editedRows } from "./liveEdits.ts";
import { createPublicationHistory, type PublicationHistory } from "./publicationHistory.ts";
import { providePublicLinkEffects } from "./publicLinkEffects.ts";
import { createPublicPages, type PublicPages } from "./publicPages.ts";
import { createSlugs } from "./slugs.ts";
import { collectRows, createCollectLinks } from "./takeDown.ts";

export type { LinkView, PublicLinks } from "./links.ts";
export type { PublicationHistory } from "./publicationHistory.ts";
export { type FoundPage, noPage, type PublicPages, type PublishedPage } from "./publicPages.ts";

export interface PublishingOptions {
  readonly storage: Storage;
  readonly actors: ActorRuntime;
  readonly directory: Directory;
  readonly documents: Documents;
  readonly articleEvents: ArticleEvents;
  /** The checks of the publish gate. */
  readonly checkText: CheckText;
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
  readonly reportFindings: ReportFindings;
  readonly list: ListLinks;
  readonly pages: PublicPages;
  readonly history: PublicationHistory;
  readonly manifest: Manifest;
}

export function createPublishing(options: PublishingOptions): Publishing {
  const { storage, actors, directory, documents, access, log } = options;
  const gatherBy = createGatherLinkChange(options);
  const freeze = createFreeze({ documents, storage });
  const slugs = createSlugs({ storage, directory });
  const gate = createPublishGate(options);
  return {
    links: createPublicLinks({ ...options, freeze, slugs, gatherBy, gate }),
    reportFindings: createReportFindings({ storage, documents, gate }),
    list: createLinkList(options),
    pages: createPublicPages({ storage, slugs, access }),
    history: createPublicationHistory(options),
    manifest: {
      name: "publishing",
      actorKinds: [providePublicLinkEffects({ storage, freeze, gatherBy, log })],
      workers: { [editedRows.name]: createLiveEdits({ storage, actors }), [collectRows.name]: createCollectLinks({ storage, actors }) },
    },
  };
}
