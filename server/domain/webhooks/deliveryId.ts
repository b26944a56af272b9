/**
 * This module derives the id of a delivery from its event id and webhook id, so repeated attempts to create it give the
 * same id.
 */
import { createHash } from "node:crypto";
import { crockford } from "../../../api/schema/id.ts";

const timeCharacters = 10;
const partitionCharacters = 2;
const idCharacters = 26;

export function toDeliveryId(eventId: string, webhookId: string): string {
  const digest = createHash("sha256").update(`${eventId},${webhookId}`).digest();
  // 128 bits in 26 characters, as in a ULID: the first character holds three bits.
  let bits = BigInt(`0x${digest.subarray(0, 16).toString("hex")}`);
  let text = "";
  for (let at = 0; at < idCharacters; at += 1) {
    text = crockford[Number(bits % 32n)] + text;
    bits /= 32n;
  }
  const partitionAt = eventId.indexOf("_") + 1 + timeCharacters;
  const partition = eventId.slice(partitionAt, partitionAt + partitionCharacters);
  return `dlv_${text.slice(0, timeCharacters)}${partition}${text.slice(timeCharacters + partitionCharacters)}`;
}
