/** Finds no article, review, template or run; for an access resolver in a test that uses only workspaces. */
import type { AccessResolverOptions } from "../../server/domain/identity/workspaces/access.ts";

const nothing = async () => undefined;

export const locateNothing: Omit<AccessResolverOptions, "storage"> = {
  locateArticle: nothing,
  locateReview: nothing,
  locateTemplate: nothing,
  locateRun: nothing,
};
