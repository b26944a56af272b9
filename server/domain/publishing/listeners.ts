/**
 * Adds the changes of publishing to commits of articles: an edit of a Live page arms its synchronization, and deleting
 * an article unpublishes its link.
 */
import type { ArmAtEdit, ArticleListeners } from "../articles/port.ts";
import { type ArmAtEditOptions, createArmAtEdit } from "./liveEdits.ts";
import { createTakeDown, type TakeDownOptions } from "./takeDown.ts";

export interface PublishingListeners extends Pick<ArticleListeners, "articleDeleted"> {
  readonly armAtEdit: ArmAtEdit;
}

export interface PublishingListenersOptions extends ArmAtEditOptions, TakeDownOptions {}

export function createPublishingListeners(options: PublishingListenersOptions): PublishingListeners {
  return { armAtEdit: createArmAtEdit(options), articleDeleted: createTakeDown(options) };
}
