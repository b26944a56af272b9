import { describe, expect, test } from "vitest";
import { idPattern } from "../../../api/schema/id.ts";
import { createIds, partitionOfId } from "../../platform/storage/ids.ts";
import { toDeliveryId } from "./deliveryId.ts";

describe("deliveryId", () => {
  test("[WH8] a delivery id is derived from event and webhook, in the event's partition", () => {
    const ids = createIds({ now: () => 1_800_000_000_000 });
    const seen = new Set<string>();
    for (let partition = 0; partition < 64; partition += 1) {
      const eventId = ids.next("evt", partition);
      for (const webhookId of [ids.next("whk", partition), ids.next("whk", partition)]) {
        const id = toDeliveryId(eventId, webhookId);
        expect(id).toMatch(idPattern("dlv"));
        expect(partitionOfId(id)).toBe(partition);
        expect(toDeliveryId(eventId, webhookId)).toBe(id);
        seen.add(id);
      }
    }
    expect(seen.size).toBe(128);
  });

  test("[WH8] the id of a given pair never changes between versions", () => {
    expect(toDeliveryId("evt_01KBFCZ8000A0123456789ABCD", "whk_01KBFCZ8000A0123456789ABCE")).toBe("dlv_3KNAPNAAB20A7WPTPEXCZYKJRT");
  });
});
