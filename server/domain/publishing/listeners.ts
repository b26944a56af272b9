/**
 * Adds the changes of publishing to commits of articles: an edit of a Live page arms its synchronization, and deleting
 * an article unpublishes its link.
 */
import type { Storage } from "../../platform/storage/port.ts";
import type { ArmAtEdit, ArticleListeners } from "../articles/port.ts";
import { type ArmAtEditOptions, createArmAtEdit } from "./liveEdits.ts";
import { createTakeDown } from "./takeDown.ts";

export interface PublishingListeners extends Pick<ArticleListeners, "articleDeleted"> {
  readonly armAtEdit: ArmAtEdit;
}

export interface PublishingListenersOptions extends ArmAtEditOptions {
  readonly storage: Pick<Storage, "now">;
}

export function createPublishingListeners(options: PublishingListenersOptions): PublishingListeners {
  return { armAtEdit: createArmAtEdit(options), articleDeleted: createTakeDown(options) };
}
