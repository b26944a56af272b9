/** Gives the tests of deliveries a server of webhooks, receivers with real TLS, and a clock that can jump ahead. */
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { type CertificateAuthority, createCertificateAuthority } from "../support/certificateAuthority.ts";
import { type ReceivedRequest, type Receiver, type ReceiverAnswer, startReceiver } from "../support/receiver.ts";
import { createWebhookRig, rigRecordTypes, type WebhookRig, type WebhookRigOptions } from "./webhookFixture.ts";

/** Call it at the top of a test file. */
export function useDeliveries() {
  /** Real time passes, and a test can set how far the store's clock is ahead of it. */
  const clock = { aheadMs: 0 };
  const receivers: Receiver[] = [];
  let authority: CertificateAuthority;
  let rig: WebhookRig;

  beforeAll(async () => {
    authority = await createCertificateAuthority();
  });
  afterAll(() => authority.remove());
  afterEach(async () => {
    await rig.close();
    await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
    clock.aheadMs = 0;
  });

  const stateOf = async (webhookId: string) => (await rig.deliveries(webhookId)).map((delivery) => delivery.state);

  return {
    clock,
    async open(options: Partial<WebhookRigOptions> = {}): Promise<WebhookRig> {
      const storage = createMemoryStorage({ recordTypes: rigRecordTypes as never, now: () => Date.now() + clock.aheadMs });
      rig = await createWebhookRig({ storage, authority, ...options });
      return rig;
    },
    async receive(answer?: (request: ReceivedRequest, n: number) => ReceiverAnswer | Promise<ReceiverAnswer>): Promise<Receiver> {
      const receiver = await startReceiver({ authority, ...(answer === undefined ? {} : { answer }) });
      receivers.push(receiver);
      return receiver;
    },
    stateOf,
    untilStates: (webhookId: string, ...states: string[]) => expect.poll(() => stateOf(webhookId), { timeout: 10_000 }).toEqual(states),
  };
}
