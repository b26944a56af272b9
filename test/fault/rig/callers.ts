/** All kinds of callers that might ask for data of another account: their credentials and their own data. */
import { setTimeout as pause } from "node:timers/promises";
import { scopeNames } from "../../../api/scopes.ts";
import { createRest, type Rest, signIn } from "../../support/clients.ts";
import { type Ids, idNames, type SeededAccount, seedAccount } from "../../support/seededAccount.ts";
import { openBrowser } from "../../support/webPage.ts";
import type { Rig } from "./rig.ts";

export interface Caller {
  readonly name: string;
  /** The headers with the credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** True if the server accepts the credential in general. */
  readonly isKnown: boolean;
  /** True if the caller has its own data, so that its ids and foreign ids can be mixed in one request. */
  readonly hasHome: boolean;
  /** True if the caller may do everything with its own data. */
  readonly isFull: boolean;
}

export interface Neighbourhood {
  /** The account whose data every caller asks for. */
  readonly owner: SeededAccount;
  /** The account whose ids the callers with their own data have. */
  readonly neighbour: SeededAccount;
  /** Ids like the owner's, in the same partitions, of resources that do not exist. */
  readonly missing: Ids;
  readonly callers: readonly Caller[];
}

/** A word in every text of the owner, and in no other text. */
export const ownersMark = "Quokkaberg";
/** Life of a key that must be valid for a moment and then expire. */
const keyLifeMs = 1000;
const password = "one of several neighbours";
const allButManaging = scopeNames.filter((scope) => scope !== "keys:manage");

/** Changes only the end of each id, so that both ids have the same partition and the same answers. */
function toMissing(ids: Ids): Ids {
  const changed = Object.fromEntries(idNames.map((name) => [name, `${ids[name].slice(0, -6)}ZZZZZZ`]));
  return { ...ids, ...changed, username: "nobody-of-that-name" } as Ids;
}

export async function settleNeighbourhood(rig: Rig): Promise<Neighbourhood> {
  const [first] = rig.nodes;
  if (first === undefined) throw new Error("the rig has no node");
  const operator = await signIn(first.url, first.server.operator);
  const join = async (username: string): Promise<Rest> => {
    await operator.expect(201, "POST", "/accounts", { username, password });
    return signIn(first.url, { username, password });
  };
  const [ownerRest, neighbourRest, memberRest, formerRest] = await Promise.all(
    ["owner-of-the-house", "neighbour", "member-next-door", "former-member"].map(join) as [
      Promise<Rest>,
      Promise<Rest>,
      Promise<Rest>,
      Promise<Rest>,
    ],
  );
  const newKey = async (rest: Rest, what: object): Promise<{ keyId: string; headers: Record<string, string> }> => {
    const { keyId, key } = await rest.expect(201, "POST", "/api-keys", { name: "Caller", ...what });
    return { keyId, headers: { "x-api-key": key } };
  };
  const expiring = await newKey(ownerRest, { expiresAt: new Date(Date.now() + keyLifeMs).toISOString() });
  const [owner, neighbour] = await Promise.all([
    seedAccount(ownerRest, "owner-of-the-house", ownersMark),
    seedAccount(neighbourRest, "neighbour", "Nextdoor"),
  ]);
  const home = `/workspaces/${owner.ids.workspaceId}`;
  await neighbourRest.expect(201, "POST", `/workspaces/${neighbour.ids.workspaceId}/members`, {
    username: "member-next-door",
    role: "member",
  });
  const { workspaceId: otherHome } = await ownerRest.expect(201, "POST", "/workspaces", { name: "Elsewhere", type: "team" });
  await ownerRest.expect(201, "POST", `${home}/members`, { username: "former-member", role: "admin" });
  const formerKey = await newKey(formerRest, { scopes: allButManaging });
  await formerRest.expect(200, "GET", home);
  await ownerRest.expect(204, "DELETE", `${home}/members/former-member`);
  const browser = openBrowser(first.url);
  await browser.open({ username: "owner-of-the-house", password });
  if (browser.cookie === undefined) throw new Error("the owner has no session cookie");
  const revoked = await newKey(ownerRest, {});
  await ownerRest.expect(200, "POST", `/api-keys/${revoked.keyId}/revoke`);
  const ended = await signIn(first.url, { username: "owner-of-the-house", password });
  await ended.expect(204, "POST", "/auth/logout");
  const narrow = { scopes: allButManaging, workspaceIds: [otherHome] };
  const narrowedKey = await newKey(ownerRest, narrow);
  const neighboursKey = await newKey(neighbourRest, { scopes: scopeNames, workspaceIds: [neighbour.ids.workspaceId] });
  const widestKey = await newKey(neighbourRest, {});
  while ((await createRest(first.url, expiring.headers).request("GET", "/api-keys/self")).status !== 401) await pause(50);

  const known = { isKnown: true, hasHome: false, isFull: false };
  const unknown = { ...known, isKnown: false };
  return {
    owner,
    neighbour,
    missing: toMissing(owner.ids),
    callers: [
      { name: "the owner of another workspace", headers: neighbourRest.headers, isKnown: true, hasHome: true, isFull: true },
      { name: "a key of that owner for everything", headers: widestKey.headers, isKnown: true, hasHome: true, isFull: false },
      { name: "a key of that owner for that workspace", headers: neighboursKey.headers, ...known },
      { name: "a member of another workspace", headers: memberRest.headers, ...known },
      { name: "an operator", headers: operator.headers, ...known },
      { name: "somebody who was a member", headers: formerRest.headers, ...known },
      { name: "the key of somebody who was a member", headers: formerKey.headers, ...known },
      { name: "a key of the very owner for another workspace", headers: narrowedKey.headers, ...known },
      { name: "an expired key of the very owner", headers: expiring.headers, ...unknown },
      { name: "a revoked key of the very owner", headers: revoked.headers, ...unknown },
      { name: "an ended session of the very owner", headers: ended.headers, ...unknown },
      { name: "the session cookie of the very owner", headers: { cookie: `svc_session=${browser.cookie}` }, ...unknown },
      { name: "a made-up key", headers: { "x-api-key": `${expiring.headers["x-api-key"]?.slice(0, -4)}AAAA` }, ...unknown },
      { name: "nobody", headers: {}, ...unknown },
    ],
  };
}
