/**
 * What proves to a receiver that a request is ours: the service's own signature and its Standard Webhooks twin,
 * over the same bytes, with the same secret. Pure; the time comes in.
 */
import { createHmac, randomBytes } from "node:crypto";

const secretPrefix = "whsec_";
const secretBytes = 32;

/** Text of a new secret: the prefix and the base64 of 32 random bytes. */
export function createWebhookSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString("base64");
}

export interface Signing {
  readonly deliveryId: string;
  /** Unix seconds of this attempt. */
  readonly timestamp: number;
  /** The exact bytes of the request body. */
  readonly body: string;
  readonly secret: string;
  /** The secret before a rotation, while it still counts. */
  readonly previousSecret?: string | undefined;
}

/** Keyed with the whole text of the secret, over `<timestamp>.<body>`. */
function toOwnSignature({ timestamp, body }: Signing, secret: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}

/** Keyed with the bytes the secret encodes, over `<id>.<timestamp>.<body>`. */
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
