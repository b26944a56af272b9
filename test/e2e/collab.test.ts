/** Tests stock y-websocket clients on the real hosts. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { WebSocket } from "ws";
import type { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { startNodeHost } from "../../server/edge/host/node.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { type CollabServer, closeOf, expectAdmitted, startCollabServer, textOf, write } from "../support/collabServer.ts";

let server: CollabServer;
let denials: string[];

beforeEach(() => {
  denials = [];
  vi.spyOn(console, "warn").mockImplementation((...words: unknown[]) => void denials.push(words.join(" ")));
});
afterEach(async () => {
  await server.close();
  expect(server.errors).toEqual([]);
  vi.restoreAllMocks();
});

const synced = (provider: WebsocketProvider) => vi.waitFor(() => expect(provider.synced).toBe(true), { timeout: 10_000 });
const same = (...providers: WebsocketProvider[]) =>
  vi.waitFor(
    () => {
      const [first, ...others] = providers.map(({ doc }) => textOf(doc));
      for (const other of others) expect(other).toBe(first);
      return first ?? "";
    },
    { timeout: 15_000 },
  );
const until = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 10 });

describe.each([
  ["uWebSockets.js", startUwsHost],
  ["node:http", startNodeHost],
])("stock editors on %s", (_name, start) => {
  it("[RT1] two editors write one article and see each other", async () => {
    server = await startCollabServer(start);
    for (const name of ["ada", "bob"]) server.roles.set(name, "write");
    const [ada, bob] = [server.provider("ada"), server.provider("bob")];
    await Promise.all([synced(ada), synced(bob)]);
    for (let line = 0; line < 50; line += 1) {
      write(ada.doc, `ada ${line}\n`);
      write(bob.doc, `bob ${line}\n`, 0);
      if (line % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => expect(textOf(ada.doc)).toHaveLength(textOf(bob.doc).length));
    const text = await same(ada, bob);
    expect(text.match(/ada \d+/g)).toHaveLength(50);
    expect(text.match(/bob \d+/g)).toHaveLength(50);
    await until(() => expect(ada.awareness.getStates().get(bob.doc.clientID)?.user).toMatchObject({ name: "bob" }));
    bob.awareness.setLocalStateField("user", { name: "somebody else" });
    bob.awareness.setLocalStateField("cursor", 7);
    await until(() => expect(ada.awareness.getStates().get(bob.doc.clientID)).toMatchObject({ cursor: 7, user: { name: "bob" } }));
    bob.destroy();
    await until(() => expect(ada.awareness.getStates().has(bob.doc.clientID)).toBe(false));
  });

  it("[RT1] text that two editors wrote while one was offline is merged when it reconnects", async () => {
    server = await startCollabServer(start);
    for (const name of ["ada", "bob"]) server.roles.set(name, "write");
    const [ada, bob] = [server.provider("ada"), server.provider("bob")];
    await Promise.all([synced(ada), synced(bob)]);
    write(ada.doc, "common ");
    await until(() => expect(textOf(bob.doc)).toBe("common "));
    bob.disconnect();
    write(bob.doc, "offline");
    write(ada.doc, "online ");
    bob.connect();
    const text = await until(() => expect(textOf(ada.doc)).toContain("offline")).then(() => same(ada, bob));
    expect(text).toContain("online");
    expect(await server.rooms.read("art_one", textOf)).toBe(text);
  });

  it("[RT42] a stock editor with much offline work that keeps typing reconnects with all of it", async () => {
    server = await startCollabServer(start, { limits: { "document.pending": 64 * 1024 } });
    for (const name of ["ada", "bob"]) server.roles.set(name, "write");
    const [ada, bob] = [server.provider("ada"), server.provider("bob")];
    await Promise.all([synced(ada), synced(bob)]);
    for (let round = 0; round < 3; round += 1) {
      ada.disconnect();
      write(ada.doc, `while away ${round} `.repeat(10_000));
      // In the turn in which the socket opens, before the server has asked for the offline work.
      const typed = new Promise<void>((resolve) => {
        const look = ({ status }: { status: string }) => {
          if (status !== "connected") return;
          ada.off("status", look);
          for (let letter = 0; letter < 200; letter += 1) write(ada.doc, "x");
          resolve();
        };
        ada.on("status", look);
      });
      ada.connect();
      await typed;
    }
    await until(() => expect(textOf(bob.doc)).toHaveLength(textOf(ada.doc).length));
    expect(textOf(bob.doc)).toBe(textOf(ada.doc));
    expect(textOf(ada.doc).match(/x/g)).toHaveLength(600);
    expect(denials).toEqual([]);
  });

  it("[RT2] [RT6] nothing is shown before it is stored; after a failed append editors lose nothing", async () => {
    server = await startCollabServer(start);
    for (const name of ["ada", "bob"]) server.roles.set(name, "write");
    const [ada, bob] = [server.provider("ada"), server.provider("bob")];
    await Promise.all([synced(ada), synced(bob)]);
    server.log.hold();
    write(ada.doc, "held");
    await until(() => expect(server.log.waiting).toBe(1));
    expect(textOf(bob.doc)).toBe("");
    const closed = new Promise((resolve) => bob.once("connection-close", (event) => resolve(event?.code)));
    server.log.failNext(new Error("disk full"));
    await server.log.release();
    expect(await closed).toBe(1013);
    expect(textOf(bob.doc)).toBe("");
    await until(() => expect(textOf(bob.doc)).toBe("held"));
    expect(await server.rooms.read("art_one", textOf)).toBe("held");
  });

  it("[RT3] the answer to a client's resync shows that its updates are stored", async () => {
    server = await startCollabServer(start);
    server.roles.set("ada", "write");
    const ada = server.provider("ada");
    await synced(ada);
    server.log.hold();
    write(ada.doc, "to be confirmed");
    ada.synced = false;
    ada.ws?.send(Uint8Array.from([0, 0, ...[Y.encodeStateVector(ada.doc).length], ...Y.encodeStateVector(ada.doc)]));
    await until(() => expect(server.log.waiting).toBe(1));
    expect(ada.synced).toBe(false);
    await server.log.release();
    await synced(ada);
    expect(server.log.batches("art_one")).toHaveLength(1);
  });

  it("[RT14] a reader receives text, and the text that it types is not stored", async () => {
    server = await startCollabServer(start);
    server.roles.set("ada", "write").set("eve", "read");
    const [ada, eve] = [server.provider("ada"), server.provider("eve")];
    await Promise.all([synced(ada), synced(eve)]);
    write(eve.doc, "graffiti ");
    await until(() => expect(denials).toHaveLength(1));
    write(ada.doc, "text");
    await until(() => expect(textOf(eve.doc)).toContain("text"));
    expect(textOf(ada.doc)).toBe("text");
    expect(eve.wsconnected).toBe(true);
    expect(server.rooms.presence("art_one").map(({ username, mode }) => [username, mode])).toEqual(
      expect.arrayContaining([
        ["ada", "write"],
        ["eve", "read"],
      ]),
    );
  });

  it("[RT9] a refused client gets a message; the third refusal closes it and does not affect others", async () => {
    server = await startCollabServer(start);
    for (const name of ["ada", "bob"]) server.roles.set(name, "write");
    const [ada, bob] = [server.provider("ada"), server.provider("bob")];
    await Promise.all([synced(ada), synced(bob)]);
    const over = new Promise((resolve) => bob.once("closed", ({ code }: { code: number }) => resolve(code)));
    for (const style of ["bold", "italic", "code"]) {
      bob.doc.getText("content.md").insert(0, "x", { [style]: true });
      if (style === "bold") {
        await until(() => expect(denials).toHaveLength(1));
        expect(bob.wsconnected).toBe(true);
      }
    }
    expect(await over).toBe(4400);
    write(ada.doc, "undisturbed");
    await until(() => expect(server.log.batches("art_one")).toHaveLength(1));
    expect(textOf(ada.doc)).toBe("undisturbed");
  });

  it("[RT17] a client that stops reading is closed with 1013 and gets everything after a reconnect", async () => {
    server = await startCollabServer(start, { limits: { "socket.buffer": 64 * 1024 } });
    for (const name of ["ada", "slow"]) server.roles.set(name, "write");
    const ada = server.provider("ada");
    const slow = server.provider("slow");
    await Promise.all([synced(ada), synced(slow)]);
    const closed = new Promise((resolve) => slow.once("connection-close", (event) => resolve(event?.code)));
    (slow.ws as unknown as WebSocket).pause();
    const block = "x".repeat(500_000);
    // More than the kernel buffers for both ends of a loopback connection.
    for (let times = 0; times < 60 && server.rooms.stats().connections === 2; times += 1) {
      ada.doc.transact(() => {
        ada.doc.getText("content.md").delete(0, ada.doc.getText("content.md").length);
        write(ada.doc, block + times);
      });
      await until(() => expect(server.log.batches("art_one")).toHaveLength(times + 1));
    }
    await until(() => expect(server.rooms.stats().connections).toBe(1));
    (slow.ws as unknown as WebSocket).resume();
    expect(await closed).toBe(1013);
    await until(() => expect(textOf(slow.doc)).toBe(textOf(ada.doc)));
    expect(ada.wsconnected).toBe(true);
  });

  it("[RT94] [RT95] of many readers a slow one gets every batch in order until it is closed with 1013", { timeout: 60_000 }, async () => {
    server = await startCollabServer(start, { limits: { "socket.buffer": 256 * 1024, "sockets.article": 100 } });
    server.roles.set("ada", "write");
    server.roles.set("reader", "read");
    const ada = server.provider("ada");
    await synced(ada);
    const readers: { socket: WebSocket; updates: Buffer[] }[] = [];
    for (let at = 0; at < 18; at += 1) {
      const socket = await server.socket("/art_one?ticket=tkt_reader@article:art_one");
      await expectAdmitted(socket);
      const updates: Buffer[] = [];
      socket.on("message", (data: Buffer) => {
        if (data[0] === 0 && data[1] === 2) updates.push(data);
      });
      readers.push({ socket, updates });
    }
    const [stopped, slow, ...quick] = readers as [(typeof readers)[0], (typeof readers)[0], ...typeof readers];
    const closed = closeOf(stopped.socket);
    const block = "x".repeat(8000);
    let batches = 0;
    async function writeBatch(): Promise<void> {
      batches += 1;
      ada.doc.transact(() => {
        const text = ada.doc.getText("content.md");
        text.delete(0, text.length);
        text.insert(0, block + batches);
      });
      await until(() => expect(server.log.batches("art_one")).toHaveLength(batches));
    }
    stopped.socket.pause();
    // The slow reader reads on before it is too far behind. The kernel buffers some megabytes for a socket that does not read.
    while (server.rooms.stats().connections === 19 && batches < 3000) {
      if (batches % 20 === 10) slow.socket.pause();
      if (batches % 20 === 0) slow.socket.resume();
      await writeBatch();
    }
    slow.socket.resume();
    expect(server.rooms.stats().connections).toBe(18);
    await writeBatch();
    stopped.socket.resume();
    expect((await closed).code).toBe(1013);
    for (const { updates } of [slow, ...quick]) await until(() => expect(updates).toHaveLength(batches));
    const [{ updates: all }] = quick as [(typeof readers)[0]];
    for (const { updates } of [slow, ...quick]) expect(Buffer.concat(updates).equals(Buffer.concat(all))).toBe(true);
    expect(stopped.updates.length).toBeLessThan(batches);
    expect(Buffer.concat(stopped.updates).equals(Buffer.concat(all.slice(0, stopped.updates.length)))).toBe(true);
  });

  it("[RT93] [RT96] in a crowd of stock editors each gets what all others wrote", { timeout: 60_000 }, async () => {
    server = await startCollabServer(start);
    const names = Array.from({ length: 20 }, (_, at) => `user${at}`);
    for (const name of names) server.roles.set(name, "write");
    const editors = names.map((name) => server.provider(name));
    await Promise.all(editors.map(synced));
    const lines: string[] = [];
    const writeLine = (at: number) => {
      const line = `line ${lines.length} of ${names[at]}`;
      lines.push(line);
      write(editors[at]?.doc as Y.Doc, `${line}\n`, 0);
    };
    for (let round = 0; round < 30; round += 1) {
      // One author, then two, then more than the server separates.
      for (const at of [[0], [1, 2], [3, 4, 5, 6, 7, 8]][round % 3] ?? []) writeLine(at);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => expect(textOf((editors[19] as WebsocketProvider).doc).split("\n")).toHaveLength(lines.length + 1));
    const text = await same(...editors);
    expect(text.trimEnd().split("\n").sort()).toEqual([...lines].sort());
    expect(editors.every(({ wsconnected }) => wsconnected)).toBe(true);
  });

  it("[RT11] a malformed frame closes its socket with 4400, one above frame.bytes with 1009", async () => {
    server = await startCollabServer(start, { limits: { "frame.bytes": 100_000 } });
    server.roles.set("ada", "write");
    const broken = await server.socket("/art_one?ticket=tkt_ada@article:art_one");
    broken.send(Uint8Array.from([0, 2, 200]));
    expect((await closeOf(broken)).code).toBe(4400);
    const large = await server.socket("/art_one?ticket=tkt_ada@article:art_one");
    large.send(new Uint8Array(100_001));
    expect((await closeOf(large)).code).toBe(1009);
  });

  it("[RT24] a stopping server closes with 1012, and stock clients reconnect to the next one", async () => {
    server = await startCollabServer(start);
    server.roles.set("ada", "write");
    const ada = server.provider("ada");
    await synced(ada);
    write(ada.doc, "before the stop");
    const closed = new Promise((resolve) => ada.once("connection-close", (event) => resolve(event?.code)));
    await server.rooms.drain();
    expect(await closed).toBe(1012);
    expect(ada.shouldConnect).toBe(true);
  });
});

it("[RT12] [RT19] two tabs that also exchange updates directly write, disconnect and converge", async () => {
  server = await startCollabServer(startUwsHost);
  for (const name of ["ada", "bob"]) server.roles.set(name, "write");
  const tabs = [server.provider("ada", { disableBc: false }), server.provider("ada", { disableBc: false })] as const;
  const bob = server.provider("bob");
  const [left, right] = tabs;
  await Promise.all([left, right, bob].map(synced));
  for (let round = 0; round < 5; round += 1) {
    write(left.doc, `left ${round} `);
    write(right.doc, `right ${round} `, 0);
    left.awareness.setLocalStateField("cursor", round);
    await until(() => expect(textOf(bob.doc)).toBe(textOf(left.doc)));
    await until(() => expect(bob.awareness.getStates().get(left.doc.clientID)).toMatchObject({ cursor: round, user: { name: "ada" } }));
    // Both lose the server at once, keep writing, and exchange updates with each other only.
    for (const { ws } of tabs) (ws as unknown as WebSocket).terminate();
    await until(() => expect(tabs.every(({ wsconnected }) => !wsconnected)).toBe(true));
    write(left.doc, `offline left ${round} `);
    write(right.doc, `offline right ${round} `, 3);
    right.doc.getText("content.md").delete(4, 2);
    await until(() => expect(tabs.every((tab) => tab.synced)).toBe(true));
    await until(() => expect(textOf(bob.doc)).toBe(textOf(left.doc)));
  }
  await until(() => expect(textOf(right.doc)).toBe(textOf(left.doc)));
  expect(await server.rooms.read("art_one", textOf)).toBe(textOf(left.doc));
  expect(denials).toEqual([]);
});

it("[RT1] fifty stock editors on one article converge", { timeout: 60_000 }, async () => {
  server = await startCollabServer(startUwsHost);
  const editors = Array.from({ length: 50 }, (_, at) => {
    server.roles.set(`editor${at}`, "write");
    return server.provider(`editor${at}`);
  });
  await Promise.all(editors.map(synced));
  expect(server.log.loads).toBe(1);
  for (let round = 0; round < 10; round += 1) {
    for (const [at, { doc }] of editors.entries()) write(doc, `${at}.${round} `, (at * 13) % (doc.getText("content.md").length + 1));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const expected = editors.reduce((length, _, at) => length + 10 * (`${at}`.length + 3), 0);
  await until(() => expect(textOf(editors[0]?.doc as Y.Doc)).toHaveLength(expected));
  await same(...editors);
});
