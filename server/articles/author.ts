/** What a call on articles always carries: who writes, and where. */
import type { Author } from "../../api/schema/article.ts";
import type { Access, Call } from "../calls/call.ts";
import { principalOf } from "../calls/principal.ts";

/** The account behind the credential, and whether a person or a key writes. */
export function authorOf(call: Pick<Call, "principal">): Author {
  const { username, kind } = principalOf(call);
  return { username, kind: kind === "key" ? "key" : "user" };
}

export function accessOf({ access }: Pick<Call, "access">): Access {
  if (access === undefined) throw new Error("an operation on articles was called without access to a workspace");
  return access;
}
