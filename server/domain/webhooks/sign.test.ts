import { createHmac, timingSafeEqual } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createWebhookSecret, toSignatureHeaders } from "./sign.ts";

/** Verifies a signature as a receiver does. It is written from the published descriptions, not from the sender's code. */
function verifyOwn(headers: Record<string, string>, name: string, body: string, secret: string): boolean {
  const [scheme, hex] = (headers[name] ?? "").split("=");
  const expected = createHmac("sha256", Buffer.from(secret, "utf8"))
    .update(Buffer.from(headers["x-svc-timestamp"] ?? ""))
    .update(Buffer.from("."))
    .update(Buffer.from(body))
    .digest();
  const given = Buffer.from(hex ?? "", "hex");
  return scheme === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
}

function verifyStandard(headers: Record<string, string>, body: string, secret: string): boolean {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const expected = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  return (headers["webhook-signature"] ?? "").split(" ").includes(expected);
}

const body = '{"id":"evt_1","data":{"title":"Grüße 🎈"}}';
const signing = { deliveryId: "dlv_1", timestamp: 1_800_000_000, body };

describe("sign", () => {
  test("[WH3] the published test vector of Standard Webhooks gives the expected signature", () => {
    const headers = toSignatureHeaders({
      deliveryId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    });
    expect(headers["webhook-signature"]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  test("[WH3] the x-svc-signature is keyed with the whole text of the secret", () => {
    const headers = toSignatureHeaders({ ...signing, secret: "whsec_c2VjcmV0" });
    // printf '1800000000.…' | openssl dgst -sha256 -hmac whsec_c2VjcmV0
    expect(headers["x-svc-signature"]).toBe("v1=5f3b879b9fc9437372a57d2b051b92bbfd856e93eb8a81c97231a5d1e7f155ce");
    expect(verifyOwn(headers, "x-svc-signature", body, "whsec_c2VjcmV0")).toBe(true);
    expect(verifyOwn(headers, "x-svc-signature", body, "c2VjcmV0")).toBe(false);
    expect(verifyOwn(headers, "x-svc-signature", `${body} `, "whsec_c2VjcmV0")).toBe(false);
  });

  test("[WH3] both signatures verify for many secrets and bodies", () => {
    for (let round = 0; round < 50; round += 1) {
      const secret = createWebhookSecret();
      const text = JSON.stringify({ round, text: "é\u2028\ud83c\udf88".repeat(round) });
      const headers = toSignatureHeaders({ ...signing, body: text, secret });
      expect(verifyOwn(headers, "x-svc-signature", text, secret)).toBe(true);
      expect(verifyStandard(headers, text, secret)).toBe(true);
      expect(verifyStandard(headers, text, createWebhookSecret())).toBe(false);
    }
  });

  test("[WH4] after a rotation the old secret signs as well as the new one", () => {
    const [secret, previousSecret] = [createWebhookSecret(), createWebhookSecret()];
    const headers = toSignatureHeaders({ ...signing, secret, previousSecret });
    expect(headers["x-svc-signature"]).toMatch(/^v1=[0-9a-f]{64}$/);
    expect(verifyOwn(headers, "x-svc-signature", body, secret)).toBe(true);
    expect(verifyOwn(headers, "x-svc-signature-previous", body, previousSecret)).toBe(true);
    expect(headers["webhook-signature"]?.split(" ").length).toBe(2);
    for (const key of [secret, previousSecret]) expect(verifyStandard(headers, body, key)).toBe(true);
    expect(Object.keys(toSignatureHeaders({ ...signing, secret })).sort()).toEqual([
      "webhook-id",
      "webhook-signature",
      "webhook-timestamp",
      "x-svc-signature",
      "x-svc-timestamp",
    ]);
  });

  test("[WH2] a secret is whsec_ and the base64 of 32 bytes, never the same twice", () => {
    const secrets = Array.from({ length: 100 }, createWebhookSecret);
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), "base64").length).toBe(32);
    }
  });
});
