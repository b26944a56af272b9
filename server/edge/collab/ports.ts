/** Ports defines what the collaboration socket needs from identity in addition to the ports in `domain/call`. */
import type { Principal } from "../../domain/call/call.ts";

/** Verifies tickets: signed texts that give access to one resource (`POST /auth/stream-ticket`). */
export interface Tickets {
  /** True if the text is a ticket, not an API key or an access token. A first frame may hold any of the three. */
  isTicket(text: string): boolean;
  /** Returns the principal of a ticket for this resource, such as `article:art_…`. Throws an error with status 401. */
  verify(ticket: string, resource: string): Promise<Principal>;
}
