/** Tests the session of the service's own web app over HTTP on each store: sign-in, tabs that share a cookie, sign-out. */
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, createRest, type Rest } from "../support/clients.ts";
import { type Browser, cookieIn, openBrowser, webHeader } from "../support/webPage.ts";
import { auditOf, createIdentity, eachWithIdentity, type Identity, password, type Store, stores } from "./identityFixture.ts";
import { type IdentityHost, startIdentityHost } from "./identityHost.ts";

const root = { username: "root", password };
const origin = "https://content.example";
const graceMs = 30_000;
const day = 86_400_000;
const path = "/auth/web-session";
const renewal = `${path}/refresh`;

describe.each(stores)("the web session on the %s store", (_name, open) => {
  let store: Store;
  let identity: Identity;
  let served: IdentityHost;
  let rest: Rest;
  let browser: Browser;
  const urlOf = ({ host }: IdentityHost) => `http://127.0.0.1:${host.port}`;

  eachWithIdentity(open, async (opened) => {
    ({ store, identity } = opened);
    await identity.prepare(root);
    served = await startIdentityHost(identity);
    rest = createRest(urlOf(served));
    browser = openBrowser(urlOf(served), origin);
  });
  afterEach(() => served.host.close());

  const me = async (accessToken: string) =>
    (await rest.request("GET", "/auth/me", undefined, { authorization: `Bearer ${accessToken}` })).status;
  const codeOf = ({ body }: Answer<unknown>) => (body as { readonly code?: string }).code;
  const cookies = (value: string) => ({ cookie: `svc_session=${value}` });
  const page = { origin, ...webHeader };
  /** The session of an access token. */
  const sessionOf = async (accessToken: string) => {
    const principal = await identity.authenticator.authenticate({ bearer: accessToken });
    return principal.kind === "session" ? principal.sessionId : "";
  };

  it("[AU40] a sign-in answers an access token, and the refresh token in a cookie for these routes only", async () => {
    const answer = await browser.open(root);
    expect([answer.status, answer.body]).toEqual([200, { accessToken: expect.any(String), expiresIn: 900 }]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("set-cookie")).toBe(
      `svc_session=${browser.cookie}; Max-Age=${(30 * day) / 1000}; Path=/auth/web-session; HttpOnly; SameSite=Strict; Secure`,
    );
    expect(await me(answer.body.accessToken)).toBe(200);
  });

  it("[AU40] the cookie is Secure exactly if the public address is https", async () => {
    const plain = await startIdentityHost(identity, { baseUrl: "http://192.168.1.5:8787" });
    const answer = await openBrowser(urlOf(plain), "http://192.168.1.5:8787").open(root);
    expect(answer.headers.get("set-cookie")).toMatch(/; SameSite=Strict$/);
    await plain.host.close();
  });

  it("[AU40] a wrong password and an unknown username are refused as by /auth/token, and the cookie stays", async () => {
    await browser.open(root);
    for (const account of [
      { username: "root", password: "wrong" },
      { username: "nobody", password },
    ]) {
      const [here, there] = [await browser.open(account), await rest.request("POST", "/auth/token", { grantType: "password", ...account })];
      expect([here.status, here.body]).toEqual([401, { ...there.body, instance: path, requestId: expect.any(String) }]);
      expect(cookieIn(here)).toBeUndefined();
    }
    expect((await browser.renew()).status).toBe(200);
  });

  it("[AU40] sign-ins at both routes share one rate for each address", async () => {
    const statuses: number[] = [];
    for (let at = 0; at < 22; at += 1) {
      const wrong = { username: "root", password: "wrong" };
      const answer =
        at % 2 === 0 ? await browser.open(wrong) : await rest.request("POST", "/auth/token", { grantType: "password", ...wrong });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
  });

  it("[AU42] a refresh answers as the sign-in, for the same session, with the next refresh token in the cookie", async () => {
    const first = await browser.open(root);
    const signedIn = browser.cookie;
    const second = await browser.renew();
    expect([second.status, second.body]).toEqual([200, { accessToken: expect.any(String), expiresIn: 900 }]);
    expect(second.headers.get("cache-control")).toBe("no-store");
    expect(second.headers.get("set-cookie")).toBe(first.headers.get("set-cookie")?.replace(signedIn ?? "", browser.cookie ?? ""));
    expect(browser.cookie).not.toBe(signedIn);
    expect(await sessionOf(second.body.accessToken)).toBe(await sessionOf(first.body.accessToken));
  });

  it("[AU43] pages of other origins are refused on all three routes, and nothing changes", async () => {
    await browser.open(root);
    const before = await store.contents();
    const cookie = cookies(browser.cookie ?? "");
    const others = [
      "https://evil.example",
      "https://content.example.evil",
      "http://content.example",
      "https://content.example:8443",
      "null",
      "x",
    ];
    for (const other of others) {
      for (const [method, route, body] of [
        ["POST", path, root],
        ["POST", renewal, undefined],
        ["DELETE", path, undefined],
      ] as const) {
        const answer = await rest.request(method, route, body, { ...cookie, ...webHeader, origin: other });
        expect([other, route, answer.status, codeOf(answer)]).toEqual([other, route, 403, "insufficient_permission"]);
        expect(answer.body.detail).toContain(`pages of ${origin}, and this page is of ${other}`);
        expect(answer.headers.get("set-cookie")).toBeNull();
      }
    }
    expect(await store.contents()).toBe(before);
    expect((await browser.renew()).status).toBe(200);
  });

  it("[AU43] sign-ins of other origins do not use up the rate of the person's address", async () => {
    for (let at = 0; at < 30; at += 1) await rest.request("POST", path, root, { origin: "https://evil.example" });
    expect((await browser.open(root)).status).toBe(200);
  });

  it("[AU43] a refresh without Origin is 403 and without x-svc-web 400, and nothing changes", async () => {
    await browser.open(root);
    const cookie = cookies(browser.cookie ?? "");
    const before = await store.contents();
    const [noOrigin, noHeader, wrongHeader] = [
      await rest.request("POST", renewal, undefined, { ...cookie, ...webHeader }),
      await rest.request("POST", renewal, undefined, { ...cookie, origin }),
      await rest.request("POST", renewal, undefined, { ...cookie, origin, "x-svc-web": "0" }),
    ];
    expect([noOrigin, noHeader, wrongHeader].map((answer) => [answer.status, codeOf(answer), cookieIn(answer)])).toEqual([
      [403, "insufficient_permission", undefined],
      [400, "bad_request", undefined],
      [400, "bad_request", undefined],
    ]);
    expect(noOrigin.body.detail).toContain("The header Origin is missing.");
    expect(noHeader.body.detail).toContain("The header x-svc-web must be 1");
    expect(await store.contents()).toBe(before);
    expect((await browser.renew()).status).toBe(200);
  });

  it("[AU43] a page at the address of the request belongs to the service if its scheme is that of BASE_URL", async () => {
    const plain = await startIdentityHost(identity, { baseUrl: "http://192.168.1.5:8787" });
    const { host } = new URL(urlOf(plain));
    const statuses = [];
    for (const at of [`http://${host}`, `https://${host}`, `http://localhost:${plain.host.port}`]) {
      statuses.push((await openBrowser(urlOf(plain), at).open(root)).status);
    }
    expect(statuses).toEqual([200, 403, 403]);
    await plain.host.close();
  });

  it("[AU44] without exactly one valid cookie a refresh is 401 and clears the cookie, and no session ends", async () => {
    await browser.open(root);
    const good = browser.cookie ?? "";
    const headers = [
      "",
      "svc_session",
      "svc_session=",
      `svc_session="${good}"`,
      `svc_session=${good}; svc_session=${good}`,
      `svc_session=${good}; svc_session=`,
      `SVC_SESSION=${good}`,
      `other=${good}`,
      `svc_session=${good.slice(0, -1)}`,
      `svc_session=${good}x`,
      `svc_session=${encodeURIComponent(`${good} `)}`,
      `svc_session=${good}, svc_session=${good}`,
    ];
    for (const cookie of headers) {
      const answer = await rest.request("POST", renewal, undefined, { ...page, cookie });
      expect([cookie, answer.status, codeOf(answer), cookieIn(answer)]).toEqual([cookie, 401, "unauthenticated", ""]);
      expect(answer.headers.get("set-cookie")).toBe("svc_session=; Max-Age=0; Path=/auth/web-session; HttpOnly; SameSite=Strict; Secure");
    }
    const among = await rest.request("POST", renewal, undefined, { ...page, cookie: `a=1;svc_session=${good} ; b="x=y"` });
    expect(among.status).toBe(200);
  });

  it("[AU44] an expired session and a disabled account are 401 and clear the cookie", async () => {
    await browser.open(root);
    const asRoot = await identity.authenticator.authenticate({ bearer: (await browser.open(root)).body.accessToken });
    await identity.accounts.create(identity.callOf(asRoot), { username: "ann", password });
    const ann = openBrowser(urlOf(served), origin);
    await ann.open({ username: "ann", password });
    await identity.accounts.update(identity.callOf(asRoot), "ann", { disabled: true });
    expect(codeOf(await ann.renew())).toBe("unauthenticated");
    expect(ann.cookie).toBeUndefined();
    store.clock.nowMs += 30 * day;
    expect(["token_expired", "unauthenticated"]).toContain(codeOf(await browser.renew()));
    expect(browser.cookie).toBeUndefined();
  });

  it("[AU45] tabs that refresh with one cookie at the same moment all stay signed in", async () => {
    await browser.open(root);
    const { cookie } = browser;
    const answers = await Promise.all(Array.from({ length: 5 }, () => browser.renew({ cookie })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(answers.map(cookieIn)).size).toBe(1);
    for (const { body } of answers) expect(await me(body.accessToken)).toBe(200);
    store.clock.nowMs += day;
    expect((await browser.renew()).status).toBe(200);
  });

  it("[AU45] a slow tab stays signed in, whatever the order of the refreshes and of their answers", async () => {
    await browser.open(root);
    const old = browser.cookie;
    const quick = await browser.renew();
    store.clock.nowMs += graceMs - 1;
    // Another tab already has the new cookie, and the slow one still sends the old cookie.
    const [other, slow] = [await browser.renew(), await browser.renew({ cookie: old })];
    expect([quick, other, slow].map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set([quick, other, slow].map(cookieIn)).size).toBe(1);
    // The browser keeps the cookie of the answer that arrives last, and uses it much later.
    store.clock.nowMs += day;
    expect((await browser.renew()).status).toBe(200);
    expect(browser.cookie).not.toBe(cookieIn(slow));
  });

  it("[AU45] an old cookie that is used after its grace ends the session for both holders", async () => {
    const { accessToken } = (await browser.open(root)).body;
    const stolen = browser.cookie;
    await browser.renew();
    store.clock.nowMs += graceMs;
    const thief = openBrowser(urlOf(served), origin);
    const refused = await thief.renew({ cookie: stolen });
    expect([refused.status, codeOf(refused), cookieIn(refused)]).toEqual([401, "unauthenticated", ""]);
    expect([await me(accessToken), (await browser.renew()).status]).toEqual([401, 401]);
    expect(auditOf(identity)).toContainEqual(expect.objectContaining({ event: "session.ended", reason: "refresh token reused" }));
  });

  it("[AU46] a sign-out ends the session of the cookie and its sockets, also with an expired access token", async () => {
    identity.access.start();
    await identity.access.ready();
    const sessionId = await sessionOf((await browser.open(root)).body.accessToken);
    store.clock.nowMs += day;
    const { cookie } = browser;
    const answer = await browser.end();
    expect([answer.status, answer.body, cookieIn(answer), answer.headers.get("cache-control")]).toEqual([204, "", "", "no-store"]);
    await expect.poll(() => identity.facts).toEqual([{ kind: "session.ended", sessionId }]);
    expect((await browser.renew({ cookie })).status).toBe(401);
    identity.access.stop();
  });

  it("[AU46] a sign-out ends the access token at once, and a repeat or a sign-out without a session is the same", async () => {
    await browser.open(root);
    const old = browser.cookie;
    const { accessToken } = (await browser.renew()).body;
    browser.cookie = old;
    expect((await browser.end()).status).toBe(204);
    expect(await me(accessToken)).toBe(401);
    for (const cookie of [old, "svc_session=invented", undefined]) {
      browser.cookie = cookie;
      const again = await browser.end();
      expect([again.status, cookieIn(again)]).toEqual([204, ""]);
    }
  });

  it("[AU47] a sign-in ends the session that the cookie held; a refused sign-in and other browsers do not", async () => {
    const [first, other] = [(await browser.open(root)).body, await openBrowser(urlOf(served), origin).open(root)];
    await browser.open({ ...root, password: "wrong" });
    expect(await me(first.accessToken)).toBe(200);
    const second = (await browser.open(root)).body;
    expect([await me(first.accessToken), await me(second.accessToken), await me(other.body.accessToken)]).toEqual([401, 200, 200]);
    expect(auditOf(identity)).toContainEqual(expect.objectContaining({ event: "session.ended", reason: "replaced by a sign-in" }));
  });

  it("[AU48] the cookie is no credential for any other operation, over REST or tRPC", async () => {
    await browser.open(root);
    const headers = { ...page, ...cookies(browser.cookie ?? "") };
    for (const [method, route, body] of [
      ["GET", "/auth/me"],
      ["POST", "/auth/logout"],
      ["GET", "/workspaces"],
      ["POST", "/api-keys", { name: "k" }],
      ["POST", "/auth/stream-ticket", { resource: "article:art_01KAHX0000050123456789ABCD" }],
      ["GET", "/trpc/auth.me"],
    ] as const) {
      expect([route, (await rest.request(method, route, body, headers)).status]).toEqual([route, 401]);
    }
    for (const name of ["openWebSession", "renewWebSession", "endWebSession"]) {
      const answer = await rest.request("POST", `/trpc/auth.${name}`, name === "openWebSession" ? root : {}, headers);
      expect([answer.status, answer.body.error.message]).toEqual([404, expect.stringContaining("it exists over REST only")]);
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
    expect((await browser.renew()).status).toBe(200);
  });

  it("[AU48] no other credential replaces the cookie", async () => {
    const tokens = await rest.expect(200, "POST", "/auth/token", { grantType: "password", ...root });
    const bearer = { authorization: `Bearer ${tokens.accessToken}` };
    const { key } = await rest.expect(201, "POST", "/api-keys", { name: "k" }, bearer);
    for (const headers of [bearer, { "x-api-key": key }]) {
      expect((await rest.request("POST", renewal, undefined, { ...page, ...headers })).status).toBe(401);
      expect((await rest.request("DELETE", path, undefined, { ...page, ...headers })).status).toBe(204);
    }
    expect(await me(tokens.accessToken)).toBe(200);
    for (const wrong of [tokens.accessToken, key]) expect((await browser.renew({ cookie: wrong })).status).toBe(401);
  });

  it("[AU48] origins of CORS_ORIGINS can read the API, but neither send the cookie nor the header of the web app", async () => {
    const friend = "https://friend.example";
    const open = await startIdentityHost(identity, { corsOrigins: [friend] });
    const asked = { origin: friend, "access-control-request-method": "POST", "access-control-request-headers": "x-svc-web" };
    const preflight = await createRest(urlOf(open)).request("OPTIONS", renewal, undefined, asked);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(friend);
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
    expect(preflight.headers.get("access-control-allow-headers")).not.toContain("x-svc-web");
    expect((await openBrowser(urlOf(open), friend).open(root)).status).toBe(403);
    await open.host.close();
  });

  it("[AU41] the refresh token appears in the cookie only: in no body, log, error or store", async () => {
    const tokens: string[] = [];
    const told: string[] = [];
    const note = (answer: Answer<unknown>) => {
      const { cookie } = browser;
      if (cookie !== undefined) tokens.push(cookie);
      told.push(JSON.stringify([answer.body, [...answer.headers].filter(([name]) => name !== "set-cookie")]));
    };
    for (let at = 0; at < 5; at += 1) {
      note(await browser.open(root));
      const { cookie } = browser;
      note(await browser.renew());
      store.clock.nowMs += graceMs;
      note(await rest.request("POST", renewal, undefined, { ...cookies(cookie ?? ""), ...page, origin: "https://evil.example" }));
      note(await rest.request("POST", renewal, undefined, { ...cookies(`${cookie}x`), ...page }));
      note(await browser.renew({ cookie }));
    }
    expect(new Set(tokens).size).toBe(10);
    const places = [...told, ...served.logged, ...identity.lines, await store.contents()].join("\n");
    for (const token of tokens) expect(places.includes(token.split(".")[1] ?? token)).toBe(false);
    // Control: the places hold a username, which is no secret.
    expect(places).toContain("root");
  });

  it("[AU50] a refresh that was stored without an answer is completed by asking again, even after a restart", async () => {
    await browser.open(root);
    const lost = browser.cookie;
    const answered = await browser.renew();
    store.clock.nowMs += graceMs - 1;
    const again = await createIdentity({ storage: await store.reopen(), clock: store.clock });
    const restarted = await startIdentityHost(again);
    const repeated = await openBrowser(urlOf(restarted), origin).renew({ cookie: lost });
    expect([repeated.status, cookieIn(repeated)]).toEqual([200, cookieIn(answered)]);
    await restarted.host.close();
  });
});
