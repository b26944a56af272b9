/** Tests the rates of requests: what counts, what an answer shows of the quota, and what is refused. */
import { describe, expect, it } from "vitest";
import { credentials, useSurface } from "./surfaceFixture.ts";

const json = { "content-type": "application/json" };

describe("rates", () => {
  let nowMs = 1_763_683_200_000;
  const rate = (count: number, burst: number) => ({ count, seconds: 1, burst });
  const surface = useSurface({
    now: () => nowMs,
    limits: { "rate.default": rate(2, 6), "rate.writes": rate(1, 2), "rate.auth": { count: 1, seconds: 60, burst: 1 } },
  });
  const get = (headers: Record<string, string>) => surface.fetch("GET", "/auth/me", { headers });
  const post = () =>
    surface.fetch("POST", "/workspaces", { headers: { ...credentials.session, ...json }, body: '{"name":"One","type":"team"}' });

  it("[API12] every answer shows the quota, above it is 429, and each credential has its own", async () => {
    nowMs += 60_000;
    for (const left of [5, 4, 3, 2, 1, 0]) {
      const response = await get(credentials.session);
      expect([response.status, response.headers.get("ratelimit-policy"), response.headers.get("ratelimit")]).toEqual([
        200,
        '"default";q=2;w=1',
        `"default";r=${left};t=${Math.ceil((6 - left) / 2)}`,
      ]);
    }
    const refused = await get(credentials.session);
    const problem = await refused.json();
    expect([refused.status, problem.code, problem.retryAfter, refused.headers.get("retry-after")]).toEqual([429, "rate_limited", 1, "1"]);
    expect(problem.detail).toContain("rate.default");
    expect((await get(credentials.fullKey)).status).toBe(200);
    nowMs += 1000;
    expect((await get(credentials.session)).headers.get("ratelimit")).toBe('"default";r=1;t=3');
  });

  it("[API12] writes use both buckets, and a refused request uses neither", async () => {
    nowMs += 60_000;
    expect([(await post()).status, (await post()).status, (await post()).status]).toEqual([201, 201, 429]);
    expect((await get(credentials.session)).headers.get("ratelimit")).toBe('"default";r=3;t=2');
  });

  it("[API12] requests without a credential count by address, and sign-in has its own rate", async () => {
    nowMs += 600_000;
    const token = async (body: object) =>
      (await surface.fetch("POST", "/auth/token", { headers: json, body: JSON.stringify(body) })).status;
    const signIn = () => token({ grantType: "password", username: "ana", password: "a guess" });
    expect([await signIn(), await signIn()]).toEqual([200, 429]);
  });

  it("[API12] refresh tokens do not count as guesses: users behind one address keep their sessions", async () => {
    nowMs += 600_000;
    const token = async (body: object) =>
      (await surface.fetch("POST", "/auth/token", { headers: json, body: JSON.stringify(body) })).status;
    const refresh = () => token({ grantType: "refresh_token", refreshToken: "x" });
    expect([await refresh(), await refresh()]).toEqual([200, 200]);
    expect(await refresh()).toBe(429);
    nowMs += 1000;
    expect(await token({ grantType: "password", username: "ana", password: "a guess" })).toBe(200);
    nowMs += 1000;
    expect(await token({ grantType: "password", username: "ana" })).toBe(422);
  });

  it("[API12] refusals before the credential is known show the quota of the address", async () => {
    nowMs += 60_000;
    expect((await surface.fetch("GET", "/nowhere")).headers.get("ratelimit")).toBe('"default";r=5;t=1');
    expect((await get({})).headers.get("ratelimit")).toBe('"default";r=4;t=1');
  });

  it("[API12] every call of a tRPC batch counts, and the batch carries no rate headers", async () => {
    nowMs += 60_000;
    const batch = await surface.fetch("GET", `/trpc/${Array.from({ length: 7 }, () => "auth.me").join(",")}?batch=1&input={}`, {
      headers: credentials.session,
    });
    const answers = await batch.json();
    expect(batch.status).toBe(207);
    expect(answers.filter((answer: { result?: unknown }) => answer.result !== undefined)).toHaveLength(6);
    expect(answers.find((answer: { error?: { data: unknown } }) => answer.error !== undefined).error.data.code).toBe("TOO_MANY_REQUESTS");
    expect(batch.headers.get("ratelimit")).toBeNull();
  });
});
