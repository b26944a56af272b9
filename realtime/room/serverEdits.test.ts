/** Server edits: what they see, how they are judged, and what remains when they fail. */
import { afterEach, describe, expect, it } from "vitest";
import type * as Y from "yjs";
import { AppError } from "../../api/schema/error.ts";
import { rawUpdate, struct, updateOf } from "../../test/support/hostileFrames.ts";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const api = { username: "api", kind: "key" } as const;

describe("server edits", () => {
  it("[RT7] an edit sees the updates received before it, and runs once per client id", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    ada.type("one");
    ada.deliver();
    const seen: [string, number][] = [];
    const append = (document: Y.Doc, revision: number) => {
      const text = document.getText("content.md");
      seen.push([text.toString(), revision]);
      text.insert(text.length, " two");
      return "done";
    };
    const edited = rig.rooms.edit(articleId, api, 42, append);
    await expect(edited).resolves.toEqual({ revision: 2, changed: true, repeated: false, value: "done" });
    expect(seen).toEqual([["one", 1]]);
    await expect(rig.rooms.edit(articleId, api, 42, append)).resolves.toEqual({ revision: 2, changed: false, repeated: true });
    await settle(rig.clients);
    expect(ada.text).toBe("one two");
    expect(
      rig.log
        .batches(articleId)
        .at(-1)
        ?.updates.map(({ author }) => author),
    ).toEqual([api]);
  });

  it("[RT7] an edit without changes makes no revision; without a client id it uses the document's own", async () => {
    rig = createRealtimeRig();
    const nothing = await rig.rooms.edit(articleId, api, 1, () => "nothing");
    expect(nothing).toEqual({ revision: 0, changed: false, repeated: false, value: "nothing" });
    for (const letter of "abc") {
      await rig.rooms.edit(articleId, api, undefined, (document) => document.getText("content.md").insert(0, letter));
    }
    expect(await rig.liveText()).toBe("cba");
    expect(await rig.rooms.read(articleId, (document) => document.store.clients.size)).toBe(1);
  });

  it("[RT7] an edit that throws halfway changes nothing and closes no socket", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    ada.type("text");
    await settle(rig.clients);
    const edited = rig.rooms.edit(articleId, api, 1, (document) => {
      document.getText("content.md").insert(0, "half of ");
      throw new AppError("revision_conflict", "no");
    });
    await expect(edited).rejects.toMatchObject({ code: "revision_conflict" });
    expect(await rig.liveText()).toBe("text");
    ada.type("!");
    await settle(rig.clients);
    expect(await rig.liveText()).toBe("text!");
    expect(ada.peer.closed).toBeUndefined();
  });

  it("[RT115] what is typed while a refused edit is reverted is kept, and no socket is closed", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    ada.type("text");
    await settle(rig.clients);
    const edited = rig.rooms.edit(articleId, api, 1, (document) => {
      document.getText("content.md").delete(0, 4);
      throw new Error("no");
    });
    await Promise.all([
      expect(edited).rejects.toThrow("no"),
      (async () => {
        await new Promise((resolve) => setImmediate(resolve));
        // The same deletion as that of the edit: it must not count as known.
        ada.document.getText("content.md").delete(0, 4);
        ada.type("new");
        ada.deliver();
      })(),
    ]);
    await settle(rig.clients);
    expect(ada.peer.closed).toBeUndefined();
    expect(await rig.liveText()).toBe("new");
  });

  it("[RT115] updates that are queued before a refused edit are stored once, and limits still count them", async () => {
    rig = createRealtimeRig({ limits: { "article.file": 100 } });
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    ada.type("a".repeat(40));
    await settle(rig.clients);
    rig.log.hold();
    bob.type("b".repeat(20));
    bob.deliver();
    await turns();
    // Waits for bob's batch, behind which ada's text is queued.
    const edited = rig.rooms.edit(articleId, api, undefined, (document) => document.getText("content.md").insert(0, "x".repeat(60)));
    const refused = expect(edited).rejects.toMatchObject({ code: "content_too_large" });
    await turns();
    ada.type("c".repeat(30));
    ada.deliver();
    await rig.log.release();
    await refused;
    await settle(rig.clients);
    expect([ada.peer.closed, bob.peer.closed]).toEqual([undefined, undefined]);
    expect([...(await rig.liveText())].sort().join("")).toBe(`${"a".repeat(40)}${"b".repeat(20)}${"c".repeat(30)}`);
    expect([ada.text, bob.text]).toEqual([await rig.liveText(), await rig.liveText()]);
  });

  it("[RT115] an exact edit that another node overtakes runs again while people type on both nodes", async () => {
    rig = createRealtimeRig({ nodes: 2 });
    const [ada, bob] = [await rig.join("ada", { node: 0 }), await rig.join("bob", { node: 1 })];
    ada.type("start ");
    await settle(rig.clients);
    rig.silenceBus(true);
    for (let at = 0; at < 5; at += 1) {
      bob.type("b");
      bob.deliver();
      await turns();
      const edited = rig.rooms.edit(articleId, api, undefined, (document) => document.getText("content.md").insert(0, "e"), true);
      ada.type("a");
      ada.deliver();
      await new Promise((resolve) => setImmediate(resolve));
      ada.type("a");
      ada.deliver();
      await edited;
    }
    rig.silenceBus(false);
    await rig.time.advance(2000);
    await settle(rig.clients);
    expect([ada.peer.closed, bob.peer.closed]).toEqual([undefined, undefined]);
    expect([...ada.text].sort().join("")).toBe([..."start ", ..."aaaaaaaaaabbbbbeeeee"].sort().join(""));
    expect(bob.text).toBe(ada.text);
    expect(await rig.liveText()).toBe(ada.text);
  });

  it("[RT7] [RT13] an edit is refused for another root, half a character, or a file above its limit", async () => {
    rig = createRealtimeRig({ limits: { "article.file": 100 } });
    const edit = (change: (document: Y.Doc) => void) => rig.rooms.edit(articleId, api, undefined, change);
    await edit((document) => document.getText("content.md").insert(0, "x".repeat(90)));
    await expect(edit((document) => document.getText("content.md").insert(0, "y".repeat(11)))).rejects.toMatchObject({
      code: "content_too_large",
    });
    await expect(edit((document) => document.getText("other.md").insert(0, "y"))).rejects.toMatchObject({ code: "content_not_accepted" });
    await expect(edit((document) => document.getText("content.md").insert(0, "\ud83c"))).rejects.toThrow("surrogate");
    expect(await rig.liveText()).toBe("x".repeat(90));
    await edit((document) => document.getText("content.md").insert(0, "y".repeat(10)));
    expect(await rig.liveText()).toHaveLength(100);
  });

  it("[RT7] an update by HTTP request is judged like one of a socket and is durable when answered", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    const update = updateOf((document) => document.getText("content.md").insert(0, "sent"));
    await expect(rig.rooms.applyUpdate(articleId, api, update)).resolves.toEqual({ revision: 1 });
    await expect(rig.rooms.applyUpdate(articleId, api, update)).resolves.toEqual({ revision: 1 });
    await settle(rig.clients);
    expect(ada.text).toBe("sent");
    const bold = updateOf((document) => document.getText("content.md").insert(0, "x", { bold: true }));
    await expect(rig.rooms.applyUpdate(articleId, api, bold)).rejects.toMatchObject({ code: "content_not_accepted" });
    const large = new Uint8Array(1024 * 1024 + 1);
    await expect(rig.rooms.applyUpdate(articleId, api, large)).rejects.toMatchObject({ code: "payload_too_large" });
    ada.type("!");
    await settle(rig.clients);
    const stolen = rawUpdate([{ clientId: ada.document.clientID, clock: 1, structs: [struct.deleted(5)] }]);
    await expect(rig.rooms.applyUpdate(articleId, api, stolen)).rejects.toMatchObject({ code: "content_not_accepted" });
  });
});
