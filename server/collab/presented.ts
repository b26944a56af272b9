/** The credential of a socket, as it came: with the upgrade, or in the first frame. Nothing is proven here. */
import { AppError } from "../../api/schema/error.ts";
import type { PresentedCredential } from "../calls/ports.ts";
import { toCredential } from "../calls/requestContext.ts";
import type { HttpRequest } from "../host/port.ts";
import type { Tickets } from "./ports.ts";

export type Presented = { readonly ticket: string } | PresentedCredential;

/** Undefined when the upgrade carries none: then the first frame must. Refuses several at once. */
export function presentedByUpgrade(request: Pick<HttpRequest, "header">, ticket: string | null): Presented | undefined {
  const inHeader = request.header("authorization") !== undefined || request.header("x-api-key") !== undefined;
  if (ticket !== null && inHeader) throw new AppError("bad_request", "Send either ?ticket= or a credential in a header, not both.");
  if (ticket !== null) return { ticket };
  return inHeader ? toCredential(request) : undefined;
}

/** A first frame holds a ticket, an API key or an access token. */
export function presentedByFrame(text: string, tickets: Pick<Tickets, "isTicket">): Presented {
  if (tickets.isTicket(text)) return { ticket: text };
  return text.startsWith("svc_") ? { apiKey: text } : { bearer: text };
}
