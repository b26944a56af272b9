/**
 * OutboundFailure lists the reasons why an outbound request got no answer.
 *
 * The list is closed. The reasons are shown to people who manage webhooks, so they contain no address and no network
 * error message.
 */
export type OutboundFailure =
  /** The URL no longer passes the check of `publicUrl.ts`. */
  | "validation_failed"
  | "url_not_https"
  | "url_not_public"
  | "url_unresolvable"
  | "timeout"
  | "connect_timeout"
  | "connection_refused"
  | "unreachable"
  | "connection_reset"
  | "certificate_invalid"
  | "tls_failed"
  | "answer_invalid"
  /** The answer reached the byte limit before its body began. */
  | "answer_too_long"
  | "failed";

const reasons: Readonly<Record<string, OutboundFailure>> = {
  ECONNREFUSED: "connection_refused",
  ECONNRESET: "connection_reset",
  EPIPE: "connection_reset",
  UND_ERR_SOCKET: "connection_reset",
  ETIMEDOUT: "connect_timeout",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  EADDRNOTAVAIL: "unreachable",
  UND_ERR_HEADERS_OVERFLOW: "answer_too_long",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "answer_invalid",
};

/** Error codes of OpenSSL and Node for an invalid certificate. */
const certificateCode = /CERT|SELF_SIGNED|ISSUER|CRL|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH/;

export function toOutboundFailure(error: unknown): OutboundFailure {
  // Parser errors have no code if the answer is not HTTP at all.
  if (error instanceof Error && error.name === "HTTPParserError") return "answer_invalid";
  const code = codeOf(error);
  if (code === undefined) return "failed";
  const known = reasons[code];
  if (known !== undefined) return known;
  if (certificateCode.test(code)) return "certificate_invalid";
  if (code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS") || code === "EPROTO") return "tls_failed";
  return "failed";
}

/** If several addresses fail, Node throws one AggregateError. Its last error is the most informative. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors.at(-1));
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}
