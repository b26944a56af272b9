/**
 * Records what the rig's receiver received, by webhook and commit, and whether each request was correct. A webhook is
 * identified by its path.
 */
import { verifyOwn, verifyStandard } from "../../contract/webhookVerify.ts";
import type { ReceivedRequest } from "../../support/receiver.ts";
import type { Rig } from "./rig.ts";

export interface ListeningWebhook {
  readonly webhookId: string;
  readonly path: string;
  readonly secret: string;
}

/** The requests of one webhook for one commit. */
export interface Told {
  readonly deliveryId: string;
  readonly body: Buffer;
  readonly firstAtMs: number;
  /** How often the receiver answered with a 2xx. */
  accepted: number;
  /** How often a request came although an earlier one was accepted. */
  repeated: number;
}

export interface Arrivals {
  /** Reads the new requests. Everything below is the state at the last call. */
  look(): void;
  /** Requests by commit. */
  of(webhook: ListeningWebhook): ReadonlyMap<string, Told>;
  /** Time of the last request. */
  readonly lastAtMs: number;
  /** Requests that were not correct, as text. */
  readonly wrong: readonly string[];
}

/** Creates a webhook of the rig's workspace for commits, at its own path. */
export async function makeWebhook(rig: Rig, name: string): Promise<ListeningWebhook> {
  const url = `${rig.receiver.url}/${name}`;
  const { webhookId, secret } = await rig.insist("POST", `/workspaces/${rig.workspaceId}/webhooks`, { url, events: ["article.updated"] });
  return { webhookId, secret, path: new URL(url).pathname };
}

/** `isAccepted`: true if the receiver answers the request with a 2xx. */
export function watchArrivals(
  rig: Rig,
  webhooks: readonly ListeningWebhook[],
  isAccepted: (request: ReceivedRequest) => boolean,
): Arrivals {
  const byPath = new Map(webhooks.map((webhook) => [webhook.path, { webhook, told: new Map<string, Told>() }]));
  const wrong: string[] = [];
  let [looked, lastAtMs] = [0, 0];

  function take(request: ReceivedRequest): void {
    const known = byPath.get(request.path);
    if (known === undefined) return;
    lastAtMs = request.receivedAtMs;
    const { webhook, told } = known;
    const { "x-svc-delivery": deliveryId = "", "webhook-id": standardId } = request.headers;
    if (!verifyOwn(request, webhook.secret) || !verifyStandard(request, webhook.secret)) wrong.push(`${deliveryId}: a bad signature`);
    if (deliveryId === "" || deliveryId !== standardId) wrong.push(`${deliveryId}: the webhook-id is ${standardId}`);
    const { commitId } = JSON.parse(request.body.toString()).data;
    let before = told.get(commitId);
    if (before === undefined) {
      before = { deliveryId, body: request.body, firstAtMs: request.receivedAtMs, accepted: 0, repeated: 0 };
      told.set(commitId, before);
    }
    if (before.deliveryId !== deliveryId) wrong.push(`${commitId}: told as ${before.deliveryId} and as ${deliveryId}`);
    if (!before.body.equals(request.body)) wrong.push(`${deliveryId}: told with two bodies`);
    if (before.accepted > 0) before.repeated += 1;
    if (isAccepted(request)) before.accepted += 1;
  }

  return {
    look() {
      const { received } = rig.receiver;
      for (; looked < received.length; looked += 1) take(received[looked] as ReceivedRequest);
    },
    of: ({ path }) => byPath.get(path)?.told ?? new Map(),
    get lastAtMs() {
      return lastAtMs;
    },
    wrong,
  };
}
