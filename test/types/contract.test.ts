/** Tests the types of the contract that callers and handlers see. The compiler checks them; vitest only lists them. */
import type { TRPCClient, TRPCClientErrorLike } from "@trpc/client";
import type { inferRouterInputs, inferRouterOutputs } from "@trpc/server";
import { describe, expectTypeOf, it } from "vitest";
import type { AppContract } from "../../api/contract/contract.ts";
import type { InputOf, OutputOf, ParsedInput, RawBody } from "../../api/contract/operation.ts";
import type { AppRouter } from "../../api/derive/trpc.ts";
import type { Problem } from "../../api/schema/error.ts";
import type { ArticleId, FolderId, WebhookId, WorkspaceId } from "../../api/schema/id.ts";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import type { WorkspaceWebhook, WorkspaceWebhookEventType } from "../../api/schema/webhook.ts";
import { type Handlers, handler, type Served, type Versioned } from "../../server/domain/call/call.ts";
import type { Page } from "../../server/domain/call/paging.ts";

type Inputs = inferRouterInputs<AppRouter>;
type Outputs = inferRouterOutputs<AppRouter>;
type Client = TRPCClient<AppRouter>;

describe("types of the contract", () => {
  it("[API23] the stock client infers an input as all its parts in one object", () => {
    expectTypeOf<Inputs["articles"]["list"]>().toEqualTypeOf<{
      workspaceId: string;
      folderId?: string | undefined;
      topicId?: string | undefined;
      limit?: number | undefined;
      nextToken?: string | undefined;
      q?: string | undefined;
      author?: string | undefined;
      published?: ("live" | "snapshot" | "expired" | "none")[] | undefined;
      updatedSince?: number | undefined;
      deleted?: boolean | undefined;
      sort?: "createdAt" | "updatedAt" | "title" | undefined;
      order?: "asc" | "desc" | undefined;
    }>();
    expectTypeOf<Inputs["articles"]["update"]>().toEqualTypeOf<{
      articleId: string;
      title?: string | undefined;
      slug?: string | undefined;
      folderId?: string | null | undefined;
    }>();
    expectTypeOf<Inputs["auth"]["me"]>().toBeVoid();
    expectTypeOf<Inputs["keys"]["list"]["state"]>().toEqualTypeOf<"active" | "revoked" | "expired" | undefined>();
  });

  it("[AU48] the operations of the web session are no procedures", () => {
    expectTypeOf<AppContract["auth"]>().toHaveProperty("renewWebSession");
    for (const name of ["openWebSession", "renewWebSession", "endWebSession"] as const) {
      expectTypeOf<Client["auth"]>().not.toHaveProperty(name);
    }
  });

  it("[API23] unions in a body stay unions next to the other parts", () => {
    expectTypeOf<Inputs["auth"]["token"]>().toExtend<
      { grantType: "password"; username: string; password: string } | { grantType: "refresh_token"; refreshToken: string }
    >();
    expectTypeOf<{ grantType: "password"; refreshToken: string }>().not.toExtend<Inputs["auth"]["token"]>();
  });

  it("[API23] outputs are the reply schemas, and an operation without an answer gives undefined", () => {
    expectTypeOf<Outputs["articles"]["get"]["publicLink"]>().toEqualTypeOf<
      { mode: "live" | "snapshot"; url: string; state: "live" | "snapshot" | "expired" } | undefined
    >();
    expectTypeOf<Outputs["articles"]["list"]["nextToken"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Outputs["auth"]["logout"]>().toBeUndefined();
    expectTypeOf<OutputOf<AppContract["content"]["get"]>["format"]>().toEqualTypeOf<"markdown" | "html" | "json" | "text">();
  });

  it("[API23] GET operations are queries, all others mutations, and nothing else exists", () => {
    expectTypeOf<Client["articles"]["get"]>().toHaveProperty("query");
    expectTypeOf<Client["articles"]["get"]>().not.toHaveProperty("mutate");
    expectTypeOf<Client["articles"]["create"]>().toHaveProperty("mutate");
    expectTypeOf<Client["articles"]>().not.toHaveProperty("rename");
    expectTypeOf<AppRouter["_def"]["_config"]["$types"]["errorShape"]["data"]["problem"]>().toEqualTypeOf<Problem>();
  });

  it("[SE11] streams are subscriptions of tracked events, or of the notice that one restarts", () => {
    type Subscribe = Client["runs"]["timeline"]["subscribe"];
    type Item = Parameters<NonNullable<Parameters<Subscribe>[1]["onData"]>>[0];
    expectTypeOf<Parameters<Subscribe>[0]>().toEqualTypeOf<{
      runId: string;
      from?: "start" | "now" | undefined;
      lastEventId?: string | undefined;
    }>();
    expectTypeOf<Item["id"]>().toEqualTypeOf<string>();
    expectTypeOf<Exclude<Item["data"], { readonly event: "stream.reset" }>>().toExtend<AgentEvent>();
    expectTypeOf<Extract<Item["data"], { readonly event: "stream.reset" }>["data"]>().toHaveProperty("snapshot");
    // The name of an event decides the type of its data.
    expectTypeOf<Extract<Item["data"], { readonly event: "agent.run_cancelled" }>["data"]>().toEqualTypeOf<{
      by: string;
      reason?: string;
      stepName?: string;
    }>();
    expectTypeOf<Parameters<Client["workspaces"]["timeline"]["subscribe"]>[0]["event"]>().toEqualTypeOf<
      AgentEvent["event"][] | undefined
    >();
    expectTypeOf<Parameters<NonNullable<Parameters<Subscribe>[1]["onError"]>>[0]>().toExtend<TRPCClientErrorLike<AppRouter>>();
    type ArticleItem = Parameters<NonNullable<Parameters<Client["articles"]["events"]["subscribe"]>[1]["onData"]>>[0];
    expectTypeOf<Extract<ArticleItem["data"], { readonly event: "document.deleted" }>["data"]>().toEqualTypeOf<{ permanent: boolean }>();
    expectTypeOf<Client["runs"]["timeline"]>().not.toHaveProperty("query");
    expectTypeOf<Client["runs"]["get"]>().not.toHaveProperty("subscribe");
  });

  it("[API23] handlers receive parsed and branded parts, each from its own place", () => {
    type Update = ParsedInput<AppContract["articles"]["update"]>;
    expectTypeOf<Update["params"]["articleId"]>().toEqualTypeOf<ArticleId>();
    expectTypeOf<Update["body"]>().toEqualTypeOf<{
      title?: string | undefined;
      slug?: string | undefined;
      folderId?: FolderId | null | undefined;
    }>();
    expectTypeOf<ParsedInput<AppContract["articles"]["list"]>["query"]["workspaceId"]>().toEqualTypeOf<WorkspaceId>();
    expectTypeOf<
      Extract<ParsedInput<AppContract["content"]["edit"]>["body"], RawBody>["mediaType"]
    >().toEqualTypeOf<"application/octet-stream">();
    expectTypeOf<InputOf<AppContract["content"]["edit"]>>().not.toHaveProperty("mediaType");
  });

  it("[API23] operations from presets have the types of their schemas, with branded ids", () => {
    expectTypeOf<Inputs["webhooks"]["update"]>().toEqualTypeOf<{
      workspaceId: string;
      webhookId: string;
      url?: string | undefined;
      events?: WorkspaceWebhookEventType[] | undefined;
      active?: boolean | undefined;
      rotateSecret?: boolean | undefined;
    }>();
    expectTypeOf<Inputs["webhooks"]["list"]>().toEqualTypeOf<{
      workspaceId: string;
      limit?: number | undefined;
      nextToken?: string | undefined;
    }>();
    expectTypeOf<Outputs["webhooks"]["list"]>().toEqualTypeOf<{ webhooks: WorkspaceWebhook[]; nextToken?: string }>();
    expectTypeOf<Outputs["webhooks"]["create"]["secret"]>().toEqualTypeOf<string>();
    expectTypeOf<Outputs["webhooks"]["delete"]>().toBeUndefined();
    expectTypeOf<ParsedInput<AppContract["webhooks"]["get"]>["params"]>().toEqualTypeOf<{
      workspaceId: WorkspaceId;
      webhookId: WebhookId;
    }>();
    expectTypeOf<ParsedInput<AppContract["accounts"]["get"]>["params"]>().toEqualTypeOf<{ username: string }>();
  });

  it("[API71] a result that does not fit the reply of its operation does not compile", () => {
    type Webhooks = AppContract["webhooks"];
    expectTypeOf<Served<Webhooks["get"]>>().toExtend<Versioned<object>>();
    expectTypeOf<WorkspaceWebhook>().not.toExtend<Served<Webhooks["get"]>>();
    expectTypeOf<Versioned<Omit<WorkspaceWebhook, "url">>>().not.toExtend<Served<Webhooks["get"]>>();
    expectTypeOf<Page<WorkspaceWebhook>>().toExtend<Served<Webhooks["list"]>>();
    expectTypeOf<Page<{ readonly webhookId: string }>>().not.toExtend<Served<Webhooks["list"]>>();
    expectTypeOf<Served<Webhooks["delete"]>>().toBeVoid();
    // Only a handler with a reply can choose one of two statuses.
    expectTypeOf<Served<AppContract["publicLinks"]["put"]>>().toBeNever();
  });

  it("[API23] a missing handler, and an answer that the reply schema refuses, fail to compile", () => {
    expectTypeOf<Omit<Handlers<AppContract>, "articles">>().not.toExtend<Handlers<AppContract>>();
    expectTypeOf<Omit<Handlers<AppContract>["articles"], "get">>().not.toExtend<Handlers<AppContract>["articles"]>();
    const own = handler<AppContract["articles"]["get"], { title: string }>({
      serve: async ({ params }) => ({ title: params.articleId }),
      reply: ({ title }) => ({ status: 200, body: { title } }),
    });
    expectTypeOf(own.reply).parameter(0).toEqualTypeOf<{ title: string }>();
  });
});
