/**
 * Why an outbound request got no answer, as a closed list of words. They are shown to people who manage webhooks,
 * so they name no address and quote no message of the network.
 */
export type OutboundFailure =
  /** The url no longer passes the gate. */
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
  UND_ERR_HEADERS_OVERFLOW: "answer_invalid",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "answer_invalid",
};

/** What OpenSSL and Node say of a certificate that does not hold. */
const certificateCode = /CERT|SELF_SIGNED|ISSUER|CRL|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH/;

export function toOutboundFailure(error: unknown): OutboundFailure {
  // The parser's errors come without a code where the answer is no HTTP at all.
  if (error instanceof Error && error.name === "HTTPParserError") return "answer_invalid";
  const code = codeOf(error);
  if (code === undefined) return "failed";
  const known = reasons[code];
  if (known !== undefined) return known;
  if (certificateCode.test(code)) return "certificate_invalid";
  if (code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS") || code === "EPROTO") return "tls_failed";
  return "failed";
}

/** Several addresses that all fail give one error around the others: the last says most. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors.at(-1));
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}
