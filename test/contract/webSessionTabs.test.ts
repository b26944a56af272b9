/** Tests the life of a web session on each store: tabs that share its cookie, lost answers, sign-outs and new sign-ins. */
import { describe, expect, it } from "vitest";
import { cookieIn, openBrowser } from "../support/webPage.ts";
import { auditOf, createIdentity, stores } from "./identityFixture.ts";
import { startIdentityHost } from "./identityHost.ts";
import { codeOf, dayMs, eachWithBrowser, graceMs, origin, root, urlOf, type WebSessionFixture } from "./webSessionFixture.ts";

describe.each(stores)("tabs of a web session on the %s store", (_name, open) => {
  let store: WebSessionFixture["store"];
  let identity: WebSessionFixture["identity"];
  let served: WebSessionFixture["served"];
  let browser: WebSessionFixture["browser"];
  let me: WebSessionFixture["me"];
  let sessionOf: WebSessionFixture["sessionOf"];

  eachWithBrowser(open, (fixture) => {
    ({ store, identity, served, browser, me, sessionOf } = fixture);
  });

  it("[AU45] tabs that refresh with one cookie at the same moment all stay signed in", async () => {
    await browser.open(root);
    const { cookie } = browser;
    const answers = await Promise.all(Array.from({ length: 5 }, () => browser.renew({ cookie })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(answers.map(cookieIn)).size).toBe(1);
    for (const { body } of answers) expect(await me(body.accessToken)).toBe(200);
    store.clock.nowMs += dayMs;
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
    store.clock.nowMs += dayMs;
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
    store.clock.nowMs += dayMs;
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
