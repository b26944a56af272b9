/** The pages that the `type` of a problem points to: plain HTML from the table of codes. */
import { type ErrorCode, type ErrorRow, errorTable } from "../../api/schema/error.ts";
import type { Route } from "../host/router.ts";

/** What a caller can do about it, by status: the codes of one status are mended in one way. */
const remedies: Readonly<Record<number, string>> = {
  400: "The request itself cannot be read. Mend what the detail names and send it again.",
  401: "Send a valid credential: an API key in x-api-key, or an access token as Authorization: Bearer.",
  403: "The credential is valid but not enough. requiredScopes and missingScopes say which scopes a key lacks.",
  404: "The resource is missing or not visible to this credential; the two look alike.",
  405: "The header Allow lists the methods of this address.",
  406: "The detail lists the media types this resource can be had as.",
  409: "The state of the resource does not allow this. currentState, currentRevision and allowed say what would.",
  410: "The resource was here and is gone for good.",
  412: "The resource was changed since its ETag was read. Read it again.",
  413: "The body, or a text in it, is larger than the limit named in the detail.",
  415: "The header Accept of the answer lists the media types that are taken.",
  422: "errors lists each finding with a JSON Pointer to it and what would be right. Nothing was changed.",
  428: "The request must name the revision it is based on.",
  429: "Wait as long as the header Retry-After says.",
  500: "A fault of the server. Its log has the reason under requestId.",
  502: "A service this server depends on did not answer as it should.",
  503: "Wait as long as the header Retry-After says, and repeat with the same Idempotency-Key.",
  507: "The server takes no writes until its disk has space again. Reading goes on.",
};

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'",
  "x-content-type-options": "nosniff",
  "cache-control": "public, max-age=3600",
};

export function problemRoutes(): readonly Route[] {
  const rows = [...errorTable.values()];
  const list = page(
    "Problems",
    `<ul>${rows.map((row) => `<li><a href="problems/${row.code}">${row.code}</a>: ${row.status}</li>`).join("")}</ul>`,
  );
  return [
    { method: "GET", path: "/problems", publicCors: true, handle: () => ({ status: 200, headers, body: list }) },
    {
      method: "GET",
      path: "/problems/{code}",
      publicCors: true,
      handle(_request, params) {
        const row = errorTable.get(params.code as ErrorCode);
        if (row === undefined)
          return { status: 404, headers, body: page("No such problem", '<p><a href="../problems">All problems</a></p>') };
        return { status: 200, headers, body: page(row.title, describe(row)) };
      },
    },
  ];
}

function describe(row: ErrorRow): string {
  return `<dl><dt>code</dt><dd>${row.code}</dd><dt>HTTP status</dt><dd>${row.status}</dd><dt>tRPC</dt><dd>${row.trpc}</dd></dl><p>${
    remedies[row.status] ?? ""
  }</p><p><a href="../problems">All problems</a></p>`;
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1>${body}</body></html>\n`;
}
