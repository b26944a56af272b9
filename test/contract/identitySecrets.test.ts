/** Tests that no secret is in the store or in a log line, whatever operations use it. */
import { describe, expect, it } from "vitest";
import { codeOf } from "../support/codeOf.ts";
import {
  eachWithIdentity,
  firstOperator,
  type Identity,
  newKey,
  newPerson,
  password,
  type Store,
  signedIn,
  stores,
} from "./identityFixture.ts";

/** Returns the secret as text, as base64 at each of the three alignments, and as hex. */
function traces(secret: string): readonly string[] {
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]).toString("base64");
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  const base64url = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  const hex = Buffer.from(secret).toString("hex");
  return [secret, ...base64, ...base64url, hex, hex.toUpperCase()];
}

describe.each(stores)("secrets on the %s store", (_name, open) => {
  let store: Store;
  let identity: Identity;

  eachWithIdentity(open, (opened) => {
    ({ store, identity } = opened);
  });

  it("[AU11] keys, tokens, tickets, links and passwords leave no trace in the store and the log", async () => {
    const secrets: string[] = [password, "another password"];
    const prepared = await identity.prepare();
    if (prepared.kind === "link") secrets.push(prepared.url.split("first.")[1] ?? "");
    const root = await firstOperator(identity);
    const ann = await newPerson(identity, root, "ann");
    const { setupUrl = "" } = await identity.accounts.create(root.call(), { username: "bob" });
    const token = new URLSearchParams(new URL(setupUrl).hash.slice(1)).get("token") ?? "";
    const reset = await identity.passwordReset.createLink("ann");
    secrets.push(token.split(".")[1] ?? "", reset?.url.split("#")[1] ?? "");
    await identity.setup.complete(identity.callOf(), { token, password: "another password" });
    for (const person of [root, ann]) {
      const workspaceId = (await identity.workspaces.list(person.call(), {})).workspaces[0]?.workspaceId ?? "";
      for (let at = 0; at < 25; at += 1) {
        const key = await newKey(identity, person, at % 2 === 0 ? {} : { scopes: ["workspaces:read"] });
        const { ticket } = await identity.tickets.issue(key.call(), `workspace:${workspaceId}`);
        await identity.tickets.verify(ticket, `workspace:${workspaceId}`);
        secrets.push(key.key, ticket);
        if (at % 3 === 0) await identity.keys.revoke(person.call(), key.keyId);
        await codeOf(identity.authenticator.authenticate({ apiKey: key.key }));
      }
      let session = await signedIn(identity, person.username);
      for (let at = 0; at < 5; at += 1) {
        secrets.push(session.accessToken, session.refreshToken);
        const { refreshToken } = session;
        session = { ...session, ...(await identity.sessions.token(identity.callOf(), { grantType: "refresh_token", refreshToken })) };
      }
    }
    await codeOf(identity.sessions.token(identity.callOf(), { grantType: "password", username: "ann", password: "another password" }));
    await identity.settled();
    const kept = await store.contents();
    const logged = identity.lines.join("");
    // Control: the scan finds names, which are stored.
    expect(kept).toContain("ann");
    expect(logged).toContain("ann");
    expect(secrets.length).toBeGreaterThan(100);
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(9);
      for (const trace of traces(secret)) {
        expect(kept.includes(trace), `a secret in the store, as ${trace}`).toBe(false);
        expect(logged.includes(trace), `a secret in the log, as ${trace}`).toBe(false);
      }
    }
  });
});
