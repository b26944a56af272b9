/** The client ids under which the server edits documents. */
import { afterEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { rawUpdate, struct } from "../../test/support/hostileFrames.ts";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle } from "../../test/support/socketPair.ts";
import { ServerClientIds } from "./serverClientIds.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const api = { username: "api", kind: "key" } as const;

function append(text: string, node = 0) {
  return rig.nodes[node]?.rooms.edit(articleId, api, undefined, (document) => {
    const content = document.getText("content.md");
    content.insert(content.length, text);
  });
}

const clientIds = (node = 0) => rig.nodes[node]?.rooms.read(articleId, (document) => [...document.store.clients.keys()]);

/** The text of a document that is built from the log alone. */
function loggedText(): string {
  const document = new Y.Doc();
  for (const { updates } of rig.log.batches(articleId)) for (const { update } of updates) Y.applyUpdate(document, update);
  return document.getText("content.md").toString();
}

describe("client ids of the server", () => {
  it("[RT114] a document that sleeps or is closed between edits keeps one client id of the server", async () => {
    rig = createRealtimeRig({ limits: { "document.clientIds": 2 } });
    for (let at = 0; at < 4; at += 1) {
      await append(`closed ${at} `);
      const loads = rig.log.loads;
      await rig.time.advance(40_000);
      await rig.liveText();
      expect(rig.log.loads).toBe(loads + 1);
    }
    const ada = await rig.join("ada");
    for (let at = 0; at < 4; at += 1) {
      await settle(rig.clients);
      const loads = rig.log.loads;
      await rig.time.advance(16_000);
      await append(`asleep ${at} `);
      expect(rig.log.loads).toBe(loads + 1);
    }
    await settle(rig.clients);
    ada.type("!", ada.text.length);
    await settle(rig.clients);
    expect(ada.peer.closed).toBeUndefined();
    expect(await clientIds()).toHaveLength(2);
    expect(loggedText()).toBe("closed 0 closed 1 closed 2 closed 3 asleep 0 asleep 1 asleep 2 asleep 3 !");
    expect(ada.text).toBe(loggedText());
  });

  it("[RT114] each node edits under an id of its own, and no text is lost when their documents sleep in turn", async () => {
    rig = createRealtimeRig({ nodes: 2 });
    let expected = "";
    for (let at = 0; at < 6; at += 1) {
      await append(`${at} `, at % 2);
      expected += `${at} `;
      if (at % 3 === 2) await rig.time.advance(40_000);
    }
    expect(await clientIds(0)).toHaveLength(2);
    expect(await clientIds(1)).toHaveLength(2);
    expect(loggedText()).toBe(expected);
  });

  it("[RT114] after an append whose outcome is unknown the server edits under a new id, and nothing is lost", async () => {
    rig = createRealtimeRig();
    await append("one ");
    const { append: store } = rig.log;
    let land = () => Promise.resolve();
    rig.log.append = async (...batch) => {
      land = async () => void (await store(...batch));
      throw new Error("the store did not answer");
    };
    await expect(append("late ")).rejects.toThrow();
    rig.log.append = store;
    await append("two ");
    await land();
    await rig.time.advance(40_000);
    expect(await clientIds()).toHaveLength(2);
    await append("three");
    expect(loggedText()).toContain("late ");
    expect(await rig.liveText()).toBe(loggedText());
    expect(loggedText().split(" ").sort()).toEqual(["late", "one", "three", "two"]);
  });

  it("[RT114] if the log has other text under the server's id, the server edits under a new id", async () => {
    rig = createRealtimeRig();
    await append("one ");
    const [known = 0] = (await clientIds()) ?? [];
    await rig.time.advance(40_000);
    await rig.log.append(articleId, [
      { author: api, update: rawUpdate([{ clientId: known, clock: 4, structs: [struct.after("forged ", known, 3)] }]) },
    ]);
    await append("two");
    expect(await clientIds()).toHaveLength(2);
    expect(await rig.liveText()).toBe("one forged two");
    expect(loggedText()).toBe("one forged two");
  });

  it("[RT114] the ids of the 50,000 documents that were closed last are remembered", () => {
    const ids = new ServerClientIds();
    for (let at = 0; at <= 50_000; at += 1) ids.put(`article ${at}`, { clientId: at, clock: 1 });
    expect([ids.take("article 0"), ids.take("article 1"), ids.take("article 1")]).toEqual([
      undefined,
      { clientId: 1, clock: 1 },
      undefined,
    ]);
  });
});
