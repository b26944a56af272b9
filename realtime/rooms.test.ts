import { afterEach, describe, expect, it } from "vitest";
import { articleId, createRealtimeRig } from "../test/support/realtimeRig.ts";
import { settle, turns } from "../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

describe("rooms", () => {
  it("[RT1] two clients converge", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    const bob = await rig.join("bob");
    await settle(rig.clients);
    ada.type("hello ");
    bob.type("world");
    await settle(rig.clients);
    expect(ada.text).toBe(bob.text);
    expect(ada.text).toContain("hello ");
    expect(ada.text).toContain("world");
    expect(await rig.liveText()).toBe(ada.text);
    await turns();
    expect(rig.log.batches(articleId).length).toBe(1);
  });
});
