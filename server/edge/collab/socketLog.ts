/**
 * SocketLog writes one line at `info` for each collaboration socket that is opened, refused or closed (OP30).
 *
 * A line holds the ids of request, article and credential and the username, as far as they are known. It must never
 * hold a credential, a query string or document text. The reason in a client's close frame is omitted for the same
 * cause: the client could put such data into it.
 */
import type { Logger } from "pino";
import type { Principal } from "../../domain/call/call.ts";
import { toCredentialId } from "../calls/credentialId.ts";

export interface SocketFacts {
  readonly requestId: string;
  readonly articleId?: string | undefined;
  readonly principal?: Principal | undefined;
}

/** Log reasons for close codes that the client or the host sets. */
const clientCloses: Readonly<Record<number, string>> = {
  1000: "the client closed",
  1001: "the client went away",
  1005: "the client closed",
  1006: "the connection was lost",
  1009: "a frame was larger than frame.bytes",
};
const maxOriginLength = 200;

export interface SocketLog {
  opened(facts: SocketFacts): void;
  /** Logs a refused socket. `code` is the close code. */
  refused(facts: SocketFacts, refusal: { readonly code: number; readonly reason: string }): void;
  /** Logs an upgrade that was refused with an HTTP status, before a socket existed. */
  refusedUpgrade(
    facts: SocketFacts,
    refusal: { readonly status: number; readonly reason: string; readonly origin: string | undefined },
  ): void;
  /** Logs a closed socket. `reason` is absent if the client or the host closed it. */
  closed(facts: SocketFacts, end: { readonly code: number; readonly reason?: string; readonly openMs: number }): void;
}

export function createSocketLog(log: Logger): SocketLog {
  const toFields = ({ requestId, articleId, principal }: SocketFacts) => ({
    requestId,
    articleId,
    username: principal?.username,
    credentialId: principal === undefined ? undefined : toCredentialId(principal),
  });
  return {
    opened(facts) {
      log.info(toFields(facts), "collaboration socket opened");
    },
    refused(facts, { code, reason }) {
      log.info({ ...toFields(facts), code, reason }, "collaboration socket refused");
    },
    refusedUpgrade(facts, { status, reason, origin }) {
      log.info({ ...toFields(facts), status, reason, origin: origin?.slice(0, maxOriginLength) }, "collaboration socket refused");
    },
    closed(facts, { code, reason = clientCloses[code] ?? "the client closed with its own close code", openMs }) {
      log.info({ ...toFields(facts), code, reason, openMs }, "collaboration socket closed");
    },
  };
}
