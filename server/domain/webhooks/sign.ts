/**
 * This module signs webhook requests so that a receiver can verify that they come from this service.
 *
 * It creates the service's own signature and the Standard Webhooks signature, over the same body and with the same
 * secret. It has no side effects; the caller passes the time.
 */
import { createHmac, randomBytes } from "node:crypto";

const secretPrefix = "whsec_";
const secretBytes = 32;

/** Creates a new secret: the prefix and the base64 of 32 random bytes. */
export function createWebhookSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString("base64");
}

export interface Signing {
  readonly deliveryId: string;
  /** Time of this attempt, in Unix seconds. */
  readonly timestamp: number;
  /** The exact bytes of the request body. */
  readonly body: string;
  readonly secret: string;
  /** The secret before a rotation, while it is still valid. */
  readonly previousSecret?: string | undefined;
}

/** HMAC over `<timestamp>.<body>`. The key is the whole text of the secret. */
function toOwnSignature({ timestamp, body }: Signing, secret: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}

/** HMAC over `<id>.<timestamp>.<body>`. The key is the decoded bytes of the secret. */
function toStandardSignature({ deliveryId, timestamp, body }: Signing, secret: string): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  return `v1,${createHmac("sha256", key).update(`${deliveryId}.${timestamp}.${body}`).digest("base64")}`;
}

export function toSignatureHeaders(signing: Signing): Record<string, string> {
  const { deliveryId, timestamp, secret, previousSecret } = signing;
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  return {
    "x-svc-timestamp": String(timestamp),
    "x-svc-signature": toOwnSignature(signing, secret),
    ...(previousSecret === undefined ? {} : { "x-svc-signature-previous": toOwnSignature(signing, previousSecret) }),
    "webhook-id": deliveryId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map((key) => toStandardSignature(signing, key)).join(" "),
  };
}
