/**
 * Fastify with the same work as our server: key, quota, scope and role in hooks, its own JSON schema validator for path
 * and body, its own serializer for the answer, and the same headers. The schemas are written from the contract.
 */
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { z } from "zod";
import { Article, CreateArticleRequest } from "../../api/schema/article.ts";
import { ArticleId } from "../../api/schema/id.ts";
import { missingScopes, type Scope } from "../../api/scopes.ts";
import type { Principal } from "../../server/domain/call/call.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { accessResolver, authenticator, rate, toArticle } from "./httpWork.ts";

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal | undefined;
  }
}

const { rates } = createMemoryStorage();

const toSchema = (schema: z.ZodType, io: "input" | "output") => {
  const { $schema: _, ...written } = z.toJSONSchema(schema, { target: "draft-7", io, reused: "inline" });
  return written;
};

const app = Fastify({
  logger: false,
  requestIdHeader: "x-request-id",
  genReqId: () => randomUUID(),
  // The contract's schemas have examples, an annotation that Fastify's strict validator does not know.
  ajv: { customOptions: { keywords: ["example"] } },
});
app.decorateRequest("principal", undefined);

app.addHook("onRequest", async (request, reply) => {
  const key = request.headers["x-api-key"];
  if (typeof key !== "string") return reply.code(401).send();
  request.principal = await authenticator.authenticate({ apiKey: key });
  const demands = [{ bucket: `default/${key}`, policy: rate }];
  if (request.method !== "GET") demands.push({ bucket: `writes/${key}`, policy: rate });
  const [answer] = await rates.take(demands);
  if (answer?.allowed !== true) return reply.code(429).send();
  reply.headers({
    "cache-control": "no-store",
    "x-request-id": request.id,
    "x-svc-api-version": "2026-11-01",
    "ratelimit-policy": `"default";q=${rate.count};w=${rate.seconds}`,
    ratelimit: `"default";r=${answer.remaining};t=${Math.ceil(((rate.burst - answer.remaining) * rate.seconds) / rate.count)}`,
  });
});

const needs = (scope: Scope) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { principal } = request;
  if (principal?.kind === "key" && missingScopes(principal.scopes, [scope]).length > 0) return reply.code(403).send();
};

app.get(
  "/articles/:articleId",
  {
    schema: { params: toSchema(z.strictObject({ articleId: ArticleId }), "input"), response: { 200: toSchema(Article, "output") } },
    preHandler: needs("articles:read"),
  },
  async (request: FastifyRequest, reply: FastifyReply) => {
    const { articleId } = request.params as { articleId: string };
    const access = await accessResolver.resolve(request.principal as Principal, "article", articleId, { deleted: true });
    if (access === undefined) return reply.code(404).send();
    reply.header("etag", '"r41-3"');
    return toArticle("How to write together");
  },
);

app.post(
  "/articles",
  {
    schema: { body: toSchema(CreateArticleRequest, "input"), response: { 201: toSchema(Article, "output") } },
    preHandler: needs("articles:write"),
  },
  async (request: FastifyRequest, reply: FastifyReply) => {
    const { workspaceId, title } = request.body as { workspaceId: string; title: string };
    const access = await accessResolver.resolve(request.principal as Principal, "workspace", workspaceId, { deleted: false });
    if (access === undefined) return reply.code(404).send();
    reply.code(201).header("location", "/articles/art_01KAHX0000050123456789ABCD");
    return toArticle(title);
  },
);

await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
process.send?.(typeof address === "object" ? address?.port : undefined);
