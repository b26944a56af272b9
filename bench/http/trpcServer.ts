/** Runs tRPC's standalone adapter with the same work: key, scope and role in a middleware, zod for input and output. */
import { initTRPC, TRPCError } from "@trpc/server";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { z } from "zod";
import { Article } from "../../api/schema/article.ts";
import { ArticleId } from "../../api/schema/id.ts";
import { missingScopes } from "../../api/scopes.ts";
import { accessResolver, authenticator, toArticle } from "./httpWork.ts";

const t = initTRPC.context<{ key: string }>().create();

const authorized = t.procedure.use(async ({ ctx, next }) => {
  const principal = await authenticator.authenticate({ apiKey: ctx.key });
  if (principal.kind === "key" && missingScopes(principal.scopes, ["articles:read"]).length > 0) throw new TRPCError({ code: "FORBIDDEN" });
  return next({ ctx: { principal } });
});

const router = t.router({
  articles: t.router({
    get: authorized
      .input(z.strictObject({ articleId: ArticleId }))
      .output(Article)
      .query(async ({ ctx, input }) => {
        const access = await accessResolver.resolve(ctx.principal, "article", input.articleId, { deleted: true });
        if (access === undefined) throw new TRPCError({ code: "NOT_FOUND" });
        return toArticle("How to write together");
      }),
  }),
});

const server = createHTTPServer({
  basePath: "/trpc/",
  router,
  createContext: ({ req }) => ({ key: String(req.headers["x-api-key"]) }),
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" ? address?.port : undefined);
});
