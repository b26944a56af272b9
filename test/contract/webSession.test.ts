/** Tests the session of the service's own web app over HTTP on each store: the sign-in, the refresh and the cookie. */
import { describe, expect, it } from "vitest";
import type { Answer } from "../support/clients.ts";
import { cookieIn, openBrowser, webHeader } from "../support/webPage.ts";
import { password, stores } from "./identityFixture.ts";
import { startIdentityHost } from "./identityHost.ts";
import {
  codeOf,
  cookieHeader,
  dayMs,
  eachWithBrowser,
  graceMs,
  origin,
  root,
  routes,
  urlOf,
  type WebSessionFixture,
} from "./webSessionFixture.ts";

const page = { origin, ...webHeader };

describe.each(stores)("the web session on the %s store", (_name, open) => {
  let store: WebSessionFixture["store"];
  let identity: WebSessionFixture["identity"];
  let served: WebSessionFixture["served"];
  let rest: WebSessionFixture["rest"];
  let browser: WebSessionFixture["browser"];
  let me: WebSessionFixture["me"];
  let sessionOf: WebSessionFixture["sessionOf"];

  eachWithBrowser(open, (fixture) => {
    ({ store, identity, served, rest, browser, me, sessionOf } = fixture);
  });

  it("[AU40] a sign-in answers an access token, and the refresh token in a cookie for these routes only", async () => {
    const answer = await browser.open(root);
    expect([answer.status, answer.body]).toEqual([200, { accessToken: expect.any(String), expiresIn: 900 }]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("set-cookie")).toBe(
      `svc_session=${browser.cookie}; Max-Age=${(30 * dayMs) / 1000}; Path=/auth/web-session; HttpOnly; SameSite=Strict; Secure`,
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
      expect([here.status, here.body]).toEqual([401, { ...there.body, instance: routes.session, requestId: expect.any(String) }]);
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
      const answer = await rest.request("POST", routes.renewal, undefined, { ...page, cookie });
      expect([cookie, answer.status, codeOf(answer), cookieIn(answer)]).toEqual([cookie, 401, "unauthenticated", ""]);
      expect(answer.headers.get("set-cookie")).toBe("svc_session=; Max-Age=0; Path=/auth/web-session; HttpOnly; SameSite=Strict; Secure");
    }
    const among = await rest.request("POST", routes.renewal, undefined, { ...page, cookie: `a=1;svc_session=${good} ; b="x=y"` });
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
    store.clock.nowMs += 30 * dayMs;
    expect(["token_expired", "unauthenticated"]).toContain(codeOf(await browser.renew()));
    expect(browser.cookie).toBeUndefined();
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
      note(await rest.request("POST", routes.renewal, undefined, { ...cookieHeader(cookie), ...page, origin: "https://evil.example" }));
      note(await rest.request("POST", routes.renewal, undefined, { ...cookieHeader(`${cookie}x`), ...page }));
      note(await browser.renew({ cookie }));
    }
    expect(new Set(tokens).size).toBe(10);
    const places = [...told, ...served.logged, ...identity.lines, await store.contents()].join("\n");
    for (const token of tokens) expect(places.includes(token.split(".")[1] ?? token)).toBe(false);
    // Control: the places hold a username, which is no secret.
    expect(places).toContain("root");
  });
});
