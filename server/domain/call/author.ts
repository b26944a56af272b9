/** Reads the author and the workspace access from a call. */
import type { Author } from "../../../api/schema/article.ts";
import type { Access, Call } from "./call.ts";
import { principalOf } from "./principal.ts";

/** The account of the credential, with kind "key" for an API key and "user" otherwise. */
export function authorOf(call: Pick<Call, "principal">): Author {
  const { username, kind } = principalOf(call);
  return { username, kind: kind === "key" ? "key" : "user" };
}

export function accessOf({ access }: Pick<Call, "access">): Access {
  if (access === undefined) throw new Error("an operation of a workspace was called without access to a workspace");
  return access;
}
