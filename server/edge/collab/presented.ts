/** Presented reads the credential of a socket from the upgrade or from the first frame. It does not verify it. */
import { AppError } from "../../../api/schema/error.ts";
import type { PresentedCredential } from "../../domain/call/ports.ts";
import { toCredential } from "../calls/requestContext.ts";
import type { HttpRequest } from "../host/port.ts";
import type { Tickets } from "./ports.ts";

export type Presented = { readonly ticket: string } | PresentedCredential;

/** Returns undefined if the upgrade has no credential; the first frame must then hold one. Throws if it has both kinds. */
export function presentedByUpgrade(request: Pick<HttpRequest, "header">, ticket: string | null): Presented | undefined {
  const inHeader = request.header("authorization") !== undefined || request.header("x-api-key") !== undefined;
  if (ticket !== null && inHeader) throw new AppError("bad_request", "Send either ?ticket= or a credential in a header, not both.");
  if (ticket !== null) return { ticket };
  return inHeader ? toCredential(request) : undefined;
}

/** Reads the credential in a first frame: a ticket, an API key or an access token. */
export function presentedByFrame(text: string, tickets: Pick<Tickets, "isTicket">): Presented {
  if (tickets.isTicket(text)) return { ticket: text };
  return text.startsWith("svc_") ? { apiKey: text } : { bearer: text };
}
