/** Tests on each store where the session cookie counts: which pages may use it, and for which operations. */
import { describe, expect, it } from "vitest";
import { createRest } from "../support/clients.ts";
import { cookieIn, openBrowser, webHeader } from "../support/webPage.ts";
import { stores } from "./identityFixture.ts";
import { startIdentityHost } from "./identityHost.ts";
import { codeOf, cookieHeader, eachWithBrowser, origin, root, routes, urlOf, type WebSessionFixture } from "./webSessionFixture.ts";

const page = { origin, ...webHeader };

describe.each(stores)("pages and the web session on the %s store", (_name, open) => {
  let store: WebSessionFixture["store"];
  let identity: WebSessionFixture["identity"];
  let rest: WebSessionFixture["rest"];
  let browser: WebSessionFixture["browser"];
  let me: WebSessionFixture["me"];

  eachWithBrowser(open, (fixture) => {
    ({ store, identity, rest, browser, me } = fixture);
  });

  it("[AU43] pages of other origins are refused on all three routes, and nothing changes", async () => {
    await browser.open(root);
    const before = await store.contents();
    const cookie = cookieHeader(browser.cookie);
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
        ["POST", routes.session, root],
        ["POST", routes.renewal, undefined],
        ["DELETE", routes.session, undefined],
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
    for (let at = 0; at < 30; at += 1) await rest.request("POST", routes.session, root, { origin: "https://evil.example" });
    expect((await browser.open(root)).status).toBe(200);
  });

  it("[AU43] a refresh without Origin is 403 and without x-svc-web 400, and nothing changes", async () => {
    await browser.open(root);
    const cookie = cookieHeader(browser.cookie);
    const before = await store.contents();
    const [noOrigin, noHeader, wrongHeader] = [
      await rest.request("POST", routes.renewal, undefined, { ...cookie, ...webHeader }),
      await rest.request("POST", routes.renewal, undefined, { ...cookie, origin }),
      await rest.request("POST", routes.renewal, undefined, { ...cookie, origin, "x-svc-web": "0" }),
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

  it("[AU48] the cookie is no credential for any other operation, over REST or tRPC", async () => {
    await browser.open(root);
    const headers = { ...page, ...cookieHeader(browser.cookie) };
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
      expect((await rest.request("POST", routes.renewal, undefined, { ...page, ...headers })).status).toBe(401);
      expect((await rest.request("DELETE", routes.session, undefined, { ...page, ...headers })).status).toBe(204);
    }
    expect(await me(tokens.accessToken)).toBe(200);
    for (const wrong of [tokens.accessToken, key]) expect((await browser.renew({ cookie: wrong })).status).toBe(401);
  });

  it("[AU48] origins of CORS_ORIGINS can read the API, but neither send the cookie nor the header of the web app", async () => {
    const friend = "https://friend.example";
    const open = await startIdentityHost(identity, { corsOrigins: [friend] });
    const asked = { origin: friend, "access-control-request-method": "POST", "access-control-request-headers": "x-svc-web" };
    const preflight = await createRest(urlOf(open)).request("OPTIONS", routes.renewal, undefined, asked);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(friend);
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
    expect(preflight.headers.get("access-control-allow-headers")).not.toContain("x-svc-web");
    expect((await openBrowser(urlOf(open), friend).open(root)).status).toBe(403);
    await open.host.close();
  });
});
