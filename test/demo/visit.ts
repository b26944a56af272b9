/** The start of a story: its stage, a workspace with a webhook, and articles opened in editors. */
import assert from "node:assert/strict";
import { createRestClient, type RestClient } from "./client.ts";
import { type Editor, openEditor } from "./editor.ts";
import type { AskedStep } from "./standIn.ts";
import { until } from "./until.ts";

export interface Delivery {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly signatureValid: boolean;
  readonly body: { readonly event: string; readonly data: Record<string, unknown> };
}

export interface Stage {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** Runs `kill -9`, then starts the server on the same data. */
  crash(): Promise<void>;
  /** Receiver of the webhooks, with the deliveries that arrived. */
  readonly receiver: { readonly url: string; trust(secret: string): void; deliveries(): readonly Delivery[] };
  /** Replacement of the model, with the requests that it received. */
  readonly model: { readonly asked: readonly AskedStep[] };
}

export interface Visit {
  readonly anonymous: RestClient;
  readonly rest: RestClient;
  readonly token: string;
  readonly workspaceId: string;
  openArticle(articleId: string): Promise<Editor>;
  /** Waits until each of these commits was delivered with a valid signature. Returns the ids of all delivered commits. */
  delivered(commitIds: readonly string[]): Promise<readonly string[]>;
}

export function expectStatus(answer: { readonly status: number; readonly body: unknown }, ...statuses: number[]): void {
  assert.ok(statuses.includes(answer.status), `expected ${statuses.join(" or ")}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
}

export async function enterWorkspace(stage: Stage, name: string): Promise<Visit> {
  const anonymous = createRestClient(stage.url);
  const signedIn = await anonymous.call<{ accessToken: string }>("POST", "/auth/token", {
    grantType: "password",
    username: stage.username,
    password: stage.password,
  });
  expectStatus(signedIn, 200);
  const token = signedIn.body.accessToken;
  const rest = anonymous.as({ authorization: `Bearer ${token}` });
  const workspace = await rest.call<{ workspaceId: string }>("POST", "/workspaces", { name, type: "team" });
  expectStatus(workspace, 201);
  const { workspaceId } = workspace.body;
  const webhook = await rest.call<{ secret: string }>("POST", `/workspaces/${workspaceId}/webhooks`, {
    url: stage.receiver.url,
    events: ["article.updated"],
  });
  expectStatus(webhook, 201);
  stage.receiver.trust(webhook.body.secret);

  return {
    anonymous,
    rest,
    token,
    workspaceId,
    async openArticle(articleId) {
      const ticket = await rest.call<{ ticket: string }>("POST", "/auth/stream-ticket", { resource: `article:${articleId}` });
      expectStatus(ticket, 201);
      const editor = openEditor({ url: stage.url, articleId, ticket: ticket.body.ticket });
      await editor.synced();
      return editor;
    },
    async delivered(commitIds) {
      const told = () => new Set(stage.receiver.deliveries().map(({ body }) => String(body.data.commitId)));
      await until(() => commitIds.every((commitId) => told().has(commitId)));
      assert.ok(
        stage.receiver.deliveries().every(({ signatureValid }) => signatureValid),
        "a signature did not verify",
      );
      return [...told()];
    },
  };
}
