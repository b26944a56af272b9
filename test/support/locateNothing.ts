/** Finds no resource; for an access resolver in a test that uses only workspaces. */
import type { Locators } from "../../server/domain/identity/workspaces/access.ts";

const nothing = async () => undefined;

export const locateNothing: Locators = {
  article: nothing,
  folder: nothing,
  job: nothing,
  review: nothing,
  run: nothing,
  template: nothing,
};
