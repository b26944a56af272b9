/**
 * This module issues and verifies access tokens: short-lived JWTs signed with Ed25519, checked according to RFC 8725.
 *
 * The algorithm is fixed and the key comes from our own set. Any other header (`crit`, `jku`, `x5u`, `jwk`, another
 * `alg`) is rejected and never followed. A valid token proves who signed in, not that the session still exists:
 * `credentials.ts` reads the session record on every request.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, decodeProtectedHeader, errors, exportJWK, type JWK, jwtVerify, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import { AppError } from "../../../../api/schema/error.ts";

const algorithm = "EdDSA";
const tokenType = "at+jwt";
const audience = "svc";
const leewaySeconds = 30;
const maxTokenBytes = 8 * 1024;
/** Maximum number of tokens in the cache of verified signatures. A token has about 400 bytes. */
const maxRemembered = 5_000;
/** DER prefix of a raw Ed25519 seed (RFC 8410). */
const pkcs8Header = Buffer.from("302e020100300506032b657004220420", "hex");

export interface AccessClaims {
  readonly username: string;
  readonly sessionId: string;
}

export interface AccessTokens {
  issue(claims: AccessClaims, nowMs: number): Promise<{ readonly token: string; readonly expiresInSeconds: number }>;
  /** Returns the claims. Throws `unauthenticated` or `token_expired`. */
  verify(token: string, nowMs: number): Promise<AccessClaims>;
  /** The public keys, as served at /.well-known/jwks.json. */
  readonly jwks: { readonly keys: readonly JWK[] };
}

export interface AccessTokenOptions {
  /** Ed25519 seeds. The first one signs, all of them verify. */
  readonly seeds: readonly Uint8Array[];
  /** `iss`: the base URL of the service. */
  readonly issuer: string;
  readonly lifetimeMs: number;
}

function refuse(): AppError {
  return new AppError("unauthenticated", "The access token was not issued by this service. Sign in at POST /auth/token.");
}

function expired(): AppError {
  return new AppError("token_expired", "The access token has expired. Exchange the refresh token at POST /auth/token.");
}

export async function createAccessTokens({ seeds, issuer, lifetimeMs }: AccessTokenOptions): Promise<AccessTokens> {
  const publicKeys = new Map<string, KeyObject>();
  const keys: JWK[] = [];
  let signing: { readonly kid: string; readonly key: KeyObject } | undefined;
  for (const seed of seeds) {
    const key = createPrivateKey({ key: Buffer.concat([pkcs8Header, seed]), format: "der", type: "pkcs8" });
    const publicKey = createPublicKey(key);
    const jwk = await exportJWK(publicKey);
    const kid = await calculateJwkThumbprint(jwk);
    signing ??= { kid, key };
    publicKeys.set(kid, publicKey);
    keys.push({ ...jwk, kid, alg: algorithm, use: "sig" });
  }
  if (signing === undefined) throw new Error("access tokens need at least one seed");
  const { kid, key } = signing;
  /** Cache of tokens with a verified signature. A valid signature stays valid, so only the expiry is checked again. */
  const remembered = new LRUCache<string, { readonly claims: AccessClaims; readonly expiresAtMs: number }>({ max: maxRemembered });

  function toKey(token: string): KeyObject {
    const { kid: named, alg, typ, ...others } = decodeProtectedHeader(token);
    const found = typeof named === "string" ? publicKeys.get(named) : undefined;
    if (found === undefined || alg !== algorithm || typ !== tokenType || Object.keys(others).length > 0) throw refuse();
    return found;
  }

  async function verifySignature(token: string, nowMs: number): Promise<AccessClaims> {
    const { payload } = await jwtVerify(token, toKey(token), {
      algorithms: [algorithm],
      typ: tokenType,
      issuer,
      audience,
      requiredClaims: ["exp", "iat", "iss", "aud", "sub", "sid"],
      clockTolerance: leewaySeconds,
      currentDate: new Date(nowMs),
    });
    const { sub, sid, aud, exp, iat } = payload;
    if (sub === undefined || typeof sid !== "string" || aud !== audience || exp === undefined || iat === undefined) throw refuse();
    if (iat * 1000 > nowMs + leewaySeconds * 1000) throw refuse();
    const claims = { username: sub, sessionId: sid };
    remembered.set(token, { claims, expiresAtMs: (exp + leewaySeconds) * 1000 });
    return claims;
  }

  return {
    async issue({ username, sessionId }, nowMs) {
      const iat = Math.floor(nowMs / 1000);
      const expiresInSeconds = Math.ceil(lifetimeMs / 1000);
      const token = await new SignJWT({ sid: sessionId, amr: ["pwd"] })
        .setProtectedHeader({ alg: algorithm, typ: tokenType, kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(username)
        .setIssuedAt(iat)
        .setExpirationTime(iat + expiresInSeconds)
        .sign(key);
      return { token, expiresInSeconds };
    },
    async verify(token, nowMs) {
      const known = remembered.get(token);
      if (known !== undefined) {
        if (nowMs < known.expiresAtMs) return known.claims;
        remembered.delete(token);
        throw expired();
      }
      if (Buffer.byteLength(token) > maxTokenBytes) throw refuse();
      try {
        return await verifySignature(token, nowMs);
      } catch (reason) {
        if (reason instanceof errors.JWTExpired) throw expired();
        if (reason instanceof errors.JOSEError || reason instanceof TypeError) throw refuse();
        throw reason;
      }
    },
    jwks: { keys },
  };
}
