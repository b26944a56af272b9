/**
 * This module creates the JSON body of a webhook event, at most `webhook.payload` bytes long.
 *
 * A body that is too long is shortened: first the longest text, and lists only when no long text is left. Identifiers
 * and numbers are never changed, so a receiver can always request the full data.
 */
import type { WorkspaceWebhookEventType } from "../../../api/schema/webhook.ts";

export interface EventEnvelope {
  readonly id: string;
  readonly event: WorkspaceWebhookEventType;
  readonly createdAt: string;
  readonly workspaceId: string;
  readonly data: object;
}

const ellipsis = "…";
/** Texts up to this length are never cut, because they may be ids, names or addresses. Unit: UTF-16 code units. */
const shortestCut = 512;

export function toEventBody(envelope: EventEnvelope, maxBytes: number): string {
  let data: Record<string, unknown> = { ...envelope.data };
  for (;;) {
    const body = JSON.stringify({ ...envelope, data });
    const excess = Buffer.byteLength(body) - maxBytes;
    if (excess <= 0) return body;
    const cut = cutText(data, excess) ?? cutList(data);
    if (cut === undefined) throw new Error(`the data of ${envelope.event} cannot be cut to ${maxBytes} bytes`);
    data = cut;
  }
}

function cutText(data: Record<string, unknown>, excess: number): Record<string, unknown> | undefined {
  const texts = Object.entries(data).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const [name, text] = texts.sort((one, other) => other[1].length - one[1].length)[0] ?? ["", ""];
  if (text.length <= shortestCut) return undefined;
  // A character takes one to six bytes of JSON. Cutting one sixth of the excess in each round never cuts too much and
  // ends soon.
  const kept = Math.max(shortestCut - 1, text.length - Math.max(1, Math.ceil(excess / 6)) - 1);
  return { ...data, [name]: `${text.slice(0, kept).replace(/[\ud800-\udbff]$/, "")}${ellipsis}` };
}

function cutList(data: Record<string, unknown>): Record<string, unknown> | undefined {
  const lists = Object.entries(data).filter((entry): entry is [string, readonly unknown[]] => Array.isArray(entry[1]));
  const [name, list] = lists.sort((one, other) => other[1].length - one[1].length)[0] ?? ["", []];
  return list.length === 0 ? undefined : { ...data, [name]: list.slice(0, Math.floor(list.length * 0.9)) };
}
