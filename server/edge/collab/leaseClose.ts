/** LeaseClose defines the close code and the reason text of a socket whose access lease has ended (RT33). */
import type { LostReason } from "../../domain/identity/access/accessLease.ts";

export interface SocketClose {
  readonly code: number;
  readonly reason: string;
}

export const leaseCloses: Readonly<Record<LostReason | "facts_missed", SocketClose>> = {
  key_revoked: { code: 4410, reason: "the key was revoked" },
  key_expired: { code: 4401, reason: "the key has expired" },
  session_ended: { code: 4401, reason: "the session has ended" },
  account_disabled: { code: 4401, reason: "the account was disabled by an operator" },
  access_lost: { code: 4403, reason: "access to the article was lost" },
  article_deleted: { code: 4409, reason: "the article was deleted" },
  // A standard code: the client reconnects, and its credential is checked again.
  facts_missed: { code: 1012, reason: "the server must check the credential again" },
};
