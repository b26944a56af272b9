/** What the collaboration socket needs from identity beyond the wrapper's ports. */
import type { Principal } from "../calls/call.ts";

/** Signed texts that open one resource (`POST /auth/stream-ticket`). */
export interface Tickets {
  /** Tells a ticket from a key or a token, where a first frame may hold any of them. */
  isTicket(text: string): boolean;
  /** The principal behind a ticket for this resource, such as `article:art_…`; refuses with the 401 family. */
  verify(ticket: string, resource: string): Promise<Principal>;
}
