import { createHmac, createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { createLocalJWKSet, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import type { AppError } from "../../../../api/schema/error.ts";
import { createAccessTokens } from "./accessTokens.ts";

const seed = randomBytes(32);
const issuer = "https://content.example";
const lifetimeMs = 900_000;
const nowMs = 1_800_000_000_500;
const claims = { username: "ann", sessionId: "ses_1" };

const make = (options: Partial<Parameters<typeof createAccessTokens>[0]> = {}) =>
  createAccessTokens({ seeds: [seed], issuer, lifetimeMs, ...options });

async function refusalOf(verifying: Promise<unknown>): Promise<string> {
  const reason = await verifying.then(
    () => undefined,
    (error: AppError) => error,
  );
  return reason?.code ?? "accepted";
}

/** Signs any header and payload with the service's own key. */
async function forge(header: object, payload: JWTPayload = {}): Promise<string> {
  const tokens = await make();
  const { token } = await tokens.issue(claims, nowMs);
  const [ownHeader = "", ownPayload = ""] = token.split(".");
  const parse = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  const merge = (part: string, more: object) =>
    Buffer.from(
      JSON.stringify(Object.fromEntries(Object.entries({ ...parse(part), ...more }).filter(([, value]) => value !== undefined))),
    ).toString("base64url");
  const input = `${merge(ownHeader, header)}.${merge(ownPayload, payload)}`;
  const { createPrivateKey, sign } = await import("node:crypto");
  const key = createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]),
    format: "der",
    type: "pkcs8",
  });
  return `${input}.${sign(null, Buffer.from(input), key).toString("base64url")}`;
}

describe("access tokens", () => {
  it("[AU1] access tokens have sub, sid, amr, aud, iss and a type, and are signed with EdDSA", async () => {
    const tokens = await make();
    const { token, expiresInSeconds } = await tokens.issue(claims, nowMs);
    expect(expiresInSeconds).toBe(900);
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet({ keys: [...tokens.jwks.keys] }), {
      currentDate: new Date(nowMs),
    });
    expect(protectedHeader).toMatchObject({ alg: "EdDSA", typ: "at+jwt" });
    expect(payload).toEqual({ sub: "ann", sid: "ses_1", amr: ["pwd"], aud: "svc", iss: issuer, iat: 1_800_000_000, exp: 1_800_000_900 });
    expect(await tokens.verify(token, nowMs)).toEqual(claims);
    expect(await tokens.verify(token, nowMs)).toEqual(claims);
  });

  it("[AU7] the published key set verifies tokens and contains no private key", async () => {
    const { jwks } = await make({ seeds: [seed, randomBytes(32)] });
    expect(jwks.keys).toHaveLength(2);
    for (const key of jwks.keys) {
      expect(key).toMatchObject({ kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig" });
      expect(Object.keys(key).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
    }
  });

  it("[AU7] a token of the former first key is valid while that key is listed", async () => {
    const { token } = await (await make()).issue(claims, nowMs);
    const fresh = randomBytes(32);
    expect(await (await make({ seeds: [fresh, seed] })).verify(token, nowMs)).toEqual(claims);
    expect(await refusalOf((await make({ seeds: [fresh] })).verify(token, nowMs))).toBe("unauthenticated");
  });

  it("[AU3] an expired token is refused as expired, even if it was accepted before", async () => {
    const tokens = await make();
    const { token } = await tokens.issue(claims, nowMs);
    await tokens.verify(token, nowMs);
    expect(await tokens.verify(token, nowMs + lifetimeMs)).toEqual(claims);
    expect(await refusalOf(tokens.verify(token, nowMs + lifetimeMs + 60_000))).toBe("token_expired");
    expect(await refusalOf(tokens.verify(token, nowMs + lifetimeMs + 60_000))).toBe("token_expired");
    expect(await refusalOf((await make()).verify(token, nowMs + lifetimeMs + 60_000))).toBe("token_expired");
  });

  it("[AU2] a header with another algorithm, type or key is refused, whoever signed the token", async () => {
    const tokens = await make();
    expect(await tokens.verify(await forge({}), nowMs)).toEqual(claims);
    const { publicKey } = generateKeyPairSync("ed25519");
    const headers = [
      { alg: "none" },
      { alg: "HS256" },
      { alg: "RS256" },
      { alg: "Ed25519" },
      { typ: "JWT" },
      { typ: undefined },
      { kid: undefined },
      { kid: "other" },
      { crit: ["exp"], exp: 1 },
      { crit: [] },
      { b64: false, crit: ["b64"] },
      { jwk: publicKey.export({ format: "jwk" }) },
      { jku: "https://elsewhere.example/jwks.json" },
      { x5u: "https://elsewhere.example/cert.pem" },
      { x5c: ["AAAA"] },
      { cty: "JWT" },
    ];
    for (const header of headers)
      expect([header, await refusalOf(tokens.verify(await forge(header), nowMs))]).toEqual([header, "unauthenticated"]);
  });

  it("[AU2] claims of another service, without an expiry, or from the future are refused", async () => {
    const tokens = await make();
    const payloads: JWTPayload[] = [
      { iss: "https://elsewhere.example" },
      { iss: undefined },
      { aud: "other" },
      { aud: ["svc", "other"] },
      { aud: undefined },
      { sub: undefined },
      { sid: undefined },
      { sid: 7 },
      { exp: undefined },
      { iat: undefined },
      { iat: 1_800_000_600 },
      { nbf: 1_800_000_600 },
    ] as JWTPayload[];
    for (const payload of payloads) {
      expect([payload, await refusalOf(tokens.verify(await forge({}, payload), nowMs))]).toEqual([payload, "unauthenticated"]);
    }
  });

  it("[AU2] unsigned, changed, foreign-key and public-key-as-secret tokens are refused", async () => {
    const tokens = await make();
    const { token } = await tokens.issue(claims, nowMs);
    const [header = "", payload = "", signature = ""] = token.split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url");
    const [jwk] = tokens.jwks.keys;
    const publicPem = createPublicKey({ key: jwk as never, format: "jwk" }).export({ format: "pem", type: "spki" });
    const hs256 = Buffer.from(JSON.stringify({ alg: "HS256", typ: "at+jwt", kid: jwk?.kid })).toString("base64url");
    const mac = createHmac("sha256", publicPem).update(`${hs256}.${payload}`).digest("base64url");
    const stranger = generateKeyPairSync("ed25519").privateKey;
    const signedByStranger = await new SignJWT({ sid: "ses_1" })
      .setProtectedHeader({ alg: "EdDSA", typ: "at+jwt", kid: jwk?.kid ?? "" })
      .setIssuer(issuer)
      .setAudience("svc")
      .setSubject("ann")
      .setIssuedAt(1_800_000_000)
      .setExpirationTime(1_800_000_900)
      .sign(stranger);
    const otherPayload = Buffer.from(Buffer.from(payload, "base64url").toString().replace("ann", "bob")).toString("base64url");
    const attacks = [
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${hs256}.${payload}.${mac}`,
      signedByStranger,
      `${header}.${otherPayload}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${payload}.${signature}.${signature}`,
      "",
      ".",
      "..",
      "a.b.c",
      `${Buffer.from("[]").toString("base64url")}.${payload}.${signature}`,
      `${Buffer.from("null").toString("base64url")}.${payload}.${signature}`,
      "\u0000",
    ];
    for (const attack of attacks) expect([attack, await refusalOf(tokens.verify(attack, nowMs))]).toEqual([attack, "unauthenticated"]);
  });

  it("[AU2] a token above 8 KiB is refused without being parsed", async () => {
    const tokens = await make();
    const large = await forge({}, { note: "x".repeat(9000) });
    expect(await refusalOf(tokens.verify(large, nowMs))).toBe("unauthenticated");
    expect(await tokens.verify(await forge({}, { note: "x".repeat(5000) }), nowMs)).toEqual(claims);
  });
});
