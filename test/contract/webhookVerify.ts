/** Verifies a delivery as a receiver does. It is written from docs/webhooks.md, not from the sender's code. */
import { createHmac, timingSafeEqual } from "node:crypto";

interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function same(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Checks `v1=<hex>` over `<timestamp>.<raw body>`. The key is the whole secret. */
export function verifyOwn({ headers, body }: Request, secret: string, header = "x-svc-signature"): boolean {
  const given = /^v1=([0-9a-f]{64})$/.exec(headers[header] ?? "")?.[1];
  if (given === undefined) return false;
  const signed = Buffer.concat([Buffer.from(`${headers["x-svc-timestamp"]}.`), body]);
  return same(Buffer.from(given, "hex"), createHmac("sha256", secret).update(signed).digest());
}

/** Standard Webhooks 1.0: any of the space-separated `v1,<base64>` values may match. */
export function verifyStandard({ headers, body }: Request, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), body]);
  const expected = createHmac("sha256", key).update(signed).digest();
  return (headers["webhook-signature"] ?? "").split(" ").some((part) => {
    const [version, signature = ""] = part.split(",");
    return version === "v1" && same(Buffer.from(signature, "base64"), expected);
  });
}
