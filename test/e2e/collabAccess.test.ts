/** Which clients are admitted to the collaboration socket, and which are closed later. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { StorageUnavailableError } from "../../server/platform/storage/port.ts";
import { type CollabServer, closeOf, credentialFrame, expectAdmitted, startCollabServer, textOf } from "../support/collabServer.ts";
import { updateFrame, updateOf } from "../support/hostileFrames.ts";

let server: CollabServer;

beforeEach(async () => {
  server = await startCollabServer(startUwsHost, { limits: { "socket.authMs": 200 } });
  server.roles.set("ada", "write").set("bob", "owner").set("eve", "read");
});
afterEach(async () => {
  await server.close();
  expect(server.errors).toEqual([]);
});

const ticket = (username: string, article = "art_one") => `?ticket=tkt_${username}@article:${article}`;

async function expectClosed(socket: WebSocket, code: number): Promise<void> {
  expect((await closeOf(socket)).code).toBe(code);
}

/** Returns the status of a refused upgrade. */
function refusalOf(path: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(server.url + path, { headers });
    socket.once("unexpected-response", (_request, response) => {
      resolve(response.statusCode);
      response.destroy();
      socket.terminate();
    });
    socket.on("error", () => {});
    socket.once("open", () => reject(new Error("the upgrade was accepted")));
  });
}

describe("admission", () => {
  it("[RT30] a credential is accepted as a ticket, in a header, or in the first frame", async () => {
    server.keys.set("bob", {});
    await expectAdmitted(await server.socket(`/art_one${ticket("ada")}`));
    await expectAdmitted(await server.socket("/art_one", { authorization: "Bearer session:ada" }));
    await expectAdmitted(await server.socket("/art_one", { "x-api-key": "svc_bob" }));
    for (const text of ["tkt_ada@article:art_one", "session:ada", "svc_bob"]) {
      const socket = await server.socket("/art_one");
      socket.send(credentialFrame(text));
      await expectAdmitted(socket);
    }
    expect(server.rooms.presence("art_one").map(({ username, kind }) => `${kind} ${username}`)).toEqual([
      "user ada",
      "user ada",
      "key bob",
      "user ada",
      "user ada",
      "key bob",
    ]);
  });

  it("[RT30] frames that arrive before the socket is admitted are not lost", async () => {
    const socket = await server.socket("/art_one");
    socket.send(credentialFrame("session:ada"));
    socket.send(updateFrame(updateOf((document) => document.getText("content.md").insert(0, "early"))));
    await expectAdmitted(socket);
    expect(await server.rooms.read("art_one", textOf)).toBe("early");
  });

  it("[RT30] no credential in time closes with 4408; another first frame or a bad one with 4401", async () => {
    await expectClosed(await server.socket("/art_one"), 4408);
    const silent = await server.socket("/art_one");
    silent.send(Uint8Array.from([0, 0, 1, 0]));
    await expectClosed(silent, 4401);
    for (const text of ["svc_nobody", "", "tkt_ada@article:art_two", "anything"]) {
      const socket = await server.socket("/art_one");
      socket.send(credentialFrame(text));
      await expectClosed(socket, 4401);
    }
    await expectClosed(await server.socket(`/art_one${ticket("ada", "art_two")}`), 4401);
    await expectClosed(await server.socket("/art_one", { authorization: "Basic YTpi" }), 4401);
  });

  it("[RT30] two credentials at once close with 4400, a revoked key with 4410", async () => {
    await expectClosed(await server.socket(`/art_one${ticket("ada")}`, { "x-api-key": "svc_bob" }), 4400);
    await expectClosed(await server.socket("/art_one", { authorization: "Bearer session:ada", "x-api-key": "svc_bob" }), 4400);
    server.keys.set("bob", {});
    server.refusedKeys.add("bob");
    await expectClosed(await server.socket("/art_one", { "x-api-key": "svc_bob" }), 4410);
  });

  it("[RT31] a missing article and an invisible one both close with 4404", async () => {
    const closes = await Promise.all(
      [`/art_none${ticket("ada", "art_none")}`, `/art_one${ticket("mal")}`].map(async (path) => closeOf(await server.socket(path))),
    );
    expect(closes[0]).toEqual(closes[1]);
    expect(closes[0]?.code).toBe(4404);
    expect(await refusalOf("")).toBe(404);
    expect(await refusalOf("/art_one/more")).toBe(404);
    expect(await refusalOf("/art%5Fone")).toBe(404);
  });

  it("[RT31] a key needs articles:read to connect and articles:write to write", async () => {
    server.keys.set("bob", { scopes: ["workspaces:write"] });
    await expectClosed(await server.socket("/art_one", { "x-api-key": "svc_bob" }), 4403);
    server.keys.set("bob", { scopes: ["articles:read"] });
    await expectAdmitted(await server.socket("/art_one", { "x-api-key": "svc_bob" }));
    server.keys.set("bob", { scopes: ["articles:write"] });
    await expectAdmitted(await server.socket("/art_one", { "x-api-key": "svc_bob" }));
    await expectAdmitted(await server.socket(`/art_one${ticket("eve")}`));
    expect(server.rooms.presence("art_one").map(({ mode }) => mode)).toEqual(["read", "write", "read"]);
  });

  it("[RT32] an Origin must be the server's own host, its BASE_URL or one of CORS_ORIGINS", async () => {
    const host = new URL(server.url).host;
    for (const origin of [`http://${host}`, "https://content.example", "https://editor.example"]) {
      await expectAdmitted(await server.socket(`/art_one${ticket("ada")}`, { origin }));
    }
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1", `http://${host}.evil.example`, `http://evil@${host}`]) {
      expect(await refusalOf(`/art_one${ticket("ada")}`, { origin }), origin).toBe(403);
    }
  });

  it("[RT20] connects above rate.connects and sockets above their limits close with 4429", async () => {
    await server.close();
    const rate = { count: 2, seconds: 1, burst: 2 };
    server = await startCollabServer(startUwsHost, { limits: { "rate.connects": rate } });
    server.roles.set("ada", "write");
    for (let times = 0; times < 2; times += 1) await expectAdmitted(await server.socket(`/art_one${ticket("ada")}`));
    await expectClosed(await server.socket(`/art_one${ticket("ada")}`), 4429);
    await server.close();
    server = await startCollabServer(startUwsHost, { limits: { "sockets.credential": 1 } });
    server.roles.set("ada", "write");
    const inside = await server.socket(`/art_one${ticket("ada")}`);
    await expectAdmitted(inside);
    await expectClosed(await server.socket(`/art_two${ticket("ada", "art_two")}`), 4429);
    await expectAdmitted(inside);
  });

  it("[RT117] upgrades get 503 while the store does not answer, and a stock client connects later", async () => {
    server.rateStore.error = new StorageUnavailableError("away");
    expect(await refusalOf(`/art_one${ticket("ada")}`)).toBe(503);
    const provider = server.provider("ada");
    await new Promise((resolve) => provider.once("connection-error", resolve));
    server.rateStore.error = undefined;
    await vi.waitFor(() => expect(provider.synced).toBe(true), 20_000);
  });

  it("[RT6] a document that cannot be loaded closes with 1013, or with 1011 after a bug", async () => {
    const { load } = server.log;
    server.log.load = () => Promise.reject(new Error("a bug"));
    await expectClosed(await server.socket(`/art_one${ticket("ada")}`), 1011);
    server.log.load = load;
    await server.rooms.drain();
    await expectClosed(await server.socket(`/art_one${ticket("ada")}`), 1013);
  });
});

describe("changes of access while a socket is open", () => {
  const open = async (path: string, headers: Record<string, string> = {}) => {
    const socket = await server.socket(path, headers);
    await expectAdmitted(socket);
    return socket;
  };

  it("[RT33] a revoked key closes with 4410, an ended session or disabled account with 4401, no others", async () => {
    server.keys.set("bob", {});
    const byKey = await open("/art_one", { "x-api-key": "svc_bob" });
    const bySession = await open(`/art_one${ticket("ada")}`);
    const byTicket = await open(`/art_two${ticket("eve", "art_two")}`);
    const closes = [byKey, bySession, byTicket].map(closeOf);
    server.tell({ kind: "key.revoked", keyId: "key_other" });
    server.tell({ kind: "link.unpublished", slug: "a" });
    server.tell({ kind: "key.revoked", keyId: "key_bob" });
    expect((await closes[0])?.code).toBe(4410);
    server.tell({ kind: "session.ended", sessionId: "ses_ada" });
    expect((await closes[1])?.code).toBe(4401);
    server.tell({ kind: "account.disabled", accountId: "usr_eve" });
    expect((await closes[2])?.code).toBe(4401);
    expect(server.rooms.stats().connections).toBe(0);
  });

  it("[RT33] a removed member is closed with 4403; a member with only read access stays and reads", async () => {
    const [ada, bob] = [await open(`/art_one${ticket("ada")}`), await open(`/art_one${ticket("bob")}`)];
    server.roles.delete("ada");
    server.tell({ kind: "membership.changed", workspaceId: "ws_other", accountId: "usr_ada" });
    server.tell({ kind: "membership.changed", workspaceId: "ws_one", accountId: "usr_bob" });
    await expectAdmitted(ada);
    const closed = closeOf(ada);
    server.tell({ kind: "membership.changed", workspaceId: "ws_one", accountId: "usr_ada" });
    expect((await closed).code).toBe(4403);
    server.roles.set("bob", "read");
    server.tell({ kind: "membership.changed", workspaceId: "ws_one", accountId: "usr_bob" });
    await vi.waitFor(() => expect(server.rooms.presence("art_one")).toMatchObject([{ username: "bob", mode: "read" }]), 20_000);
    bob.send(updateFrame(updateOf((document) => document.getText("content.md").insert(0, "too late"))));
    await expectAdmitted(bob);
    expect(await server.rooms.read("art_one", textOf)).toBe("");
  });

  it("[RT33] a deleted article closes its own sockets with 4409 and no others", async () => {
    const [one, two] = [await open(`/art_one${ticket("ada")}`), await open(`/art_two${ticket("ada", "art_two")}`)];
    const closed = closeOf(one);
    server.tell({ kind: "article.deleted", articleId: "art_one" });
    expect((await closed).code).toBe(4409);
    await expectAdmitted(two);
  });

  it("[RT33] an access fact that arrives while a socket is being admitted is applied to it", async () => {
    const { load } = server.log;
    let proceed = () => {};
    server.log.load = async (articleId) => {
      await new Promise<void>((resolve) => (proceed = resolve));
      return load(articleId);
    };
    server.keys.set("bob", {});
    const socket = await server.socket("/art_one", { "x-api-key": "svc_bob" });
    const closed = closeOf(socket);
    await vi.waitFor(() => expect(server.rooms.stats().rooms).toBe(1), 20_000);
    server.tell({ kind: "key.revoked", keyId: "key_bob" });
    proceed();
    expect((await closed).code).toBe(4410);
    await vi.waitFor(() => expect(server.rooms.stats().connections).toBe(0), 20_000);
  });

  it("[RT33] after missed access facts every socket must present its credential again", async () => {
    const socket = await open(`/art_one${ticket("ada")}`);
    const closed = closeOf(socket);
    server.tellMissed();
    expect((await closed).code).toBe(1012);
  });

  it("[RT33] an expired key closes with 4401; an expired ticket does not close its socket", async () => {
    // Long enough for the socket to be admitted on a busy machine.
    server.keys.set("bob", { expiresAtMs: Date.now() + 2000 });
    const byKey = await open("/art_one", { "x-api-key": "svc_bob" });
    const byTicket = await open(`/art_one${ticket("ada")}`);
    expect((await closeOf(byKey)).code).toBe(4401);
    await expectAdmitted(byTicket);
    server.keys.set("bob", { expiresAtMs: Date.now() - 1 });
    await expectClosed(await server.socket("/art_one", { "x-api-key": "svc_bob" }), 4401);
  });

  it("[RT30] a socket that closes while it is being admitted leaves nothing behind", async () => {
    for (let times = 0; times < 20; times += 1) {
      const socket = await server.socket(`/art_one${ticket("ada")}`);
      if (times % 2 === 0) socket.terminate();
      else socket.close();
    }
    await vi.waitFor(() => expect(server.rooms.stats().connections).toBe(0), 20_000);
    expect(server.rooms.presence("art_one")).toEqual([]);
  });
});
