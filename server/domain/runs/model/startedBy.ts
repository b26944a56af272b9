/** Converts the caller of a request into the user who starts a run. */
import type { Author } from "../../../../api/schema/article.ts";
import type { Call } from "../../call/call.ts";
import { principalOf } from "../../call/principal.ts";

/** The user who starts a run and for whom the run writes. */
export interface StartedBy {
  readonly username: string;
  readonly accountId: string;
  readonly kind: Author["kind"];
}

export function startedByOf(call: Call): StartedBy {
  const { username, accountId, kind } = principalOf(call);
  return { username, accountId, kind: kind === "key" ? "key" : "user" };
}
