/**
 * Provides everything that a story needs: the real server in a temporary folder, a receiver of webhooks that verifies
 * every signature as a subscriber would, and a model replacement that survives kills of the server.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type ReceivedRequest, startReceiver } from "../support/receiver.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { type StoreKind, storeUnderTest } from "../support/stores.ts";
import { type StandIn, startStandIn } from "./standIn.ts";
import type { Delivery, Stage } from "./visit.ts";

export interface DemoStage extends Stage {
  readonly server: RunningServer;
  /** Where the server keeps its data, as text. */
  readonly place: string;
  /** Times the server was killed so far. */
  readonly kills: number;
  readonly model: StandIn;
  remove(): Promise<void>;
}

function isSigned(request: ReceivedRequest, secret: string): boolean {
  const timestamp = request.headers["x-svc-timestamp"] ?? "";
  const digest = createHmac("sha256", secret).update(`${timestamp}.`).update(request.body).digest("hex");
  const expected = Buffer.from(`v1=${digest}`);
  const given = Buffer.from(request.headers["x-svc-signature"] ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export interface StageOptions {
  /** Milliseconds between two pieces of the model replacement's draft. */
  readonly dictationPieceMs: number;
  readonly store?: StoreKind;
}

export async function startStage({ dictationPieceMs, store = storeUnderTest }: StageOptions): Promise<DemoStage> {
  const receiver = await startReceiver();
  const model = await startStandIn(dictationPieceMs);
  const closeOutside = () => Promise.all([receiver.close(), model.close()]);
  const server = await startServer(
    {
      // The receiver and the model replacement are on loopback, which is not public. This is the only deviation of the demo.
      OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8",
      NODE_EXTRA_CA_CERTS: receiver.authority.file,
      WEBHOOK_RETRY_SCHEDULE: "0,1,1,2,2,5,5,5,5,5",
      MODEL_BASE_URL: model.baseUrl,
      MODEL_NAME: "stand-in",
      LEASE_MS: "1000",
    },
    { store },
  ).catch(async (reason: unknown) => {
    await closeOutside();
    throw reason;
  });
  const redis = server.store?.redis;
  const secrets = new Set<string>();
  let kills = 0;
  let turn: Promise<void> = Promise.resolve();

  return {
    server,
    model,
    place: redis === undefined ? server.dataDir : `Redis at 127.0.0.1:${redis.port}`,
    url: server.url,
    username: server.operator.username,
    password: server.operator.password,
    get kills() {
      return kills;
    },
    // Crashes run one at a time: a test kills at random moments, and the story kills once itself. A Redis dies with its server.
    crash() {
      turn = turn.then(async () => {
        kills += 1;
        await Promise.all([server.kill(), redis?.kill()]);
        await redis?.start();
        await server.start();
      });
      return turn;
    },
    receiver: {
      url: receiver.url,
      trust: (secret) => void secrets.add(secret),
      deliveries: () =>
        receiver.received.map(
          (request): Delivery => ({
            deliveryId: request.headers["x-svc-delivery"] ?? "",
            attempt: Number(request.headers["x-svc-attempt"]),
            signatureValid: [...secrets].some((secret) => isSigned(request, secret)),
            body: JSON.parse(request.body.toString("utf8")),
          }),
        ),
    },
    async remove() {
      await server.remove();
      await closeOutside();
    },
  };
}
