/** Reads the author of a change from a call. */
import type { Author } from "../../../api/schema/article.ts";
import type { Call } from "./call.ts";
import { principalOf } from "./principal.ts";

/** The account of the credential, with kind "key" for an API key and "user" otherwise. */
export function authorOf(call: Pick<Call, "principal">): Author {
  const { username, kind } = principalOf(call);
  return { username, kind: kind === "key" ? "key" : "user" };
}
