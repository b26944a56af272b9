/**
 * `createHandlers` creates the handlers of all resources that are not plain.
 *
 * The service of a plain resource is its handlers, so `server/compose.ts` adds it to them. An operation of the contract
 * without a handler does not compile there.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { ArticleService } from "../../domain/articles/service.ts";
import type { Handlers } from "../../domain/call/call.ts";
import type { ConversionService } from "../../domain/conversions/service.ts";
import type { TextRenderer } from "../../domain/conversions/textRenderer.ts";
import type { FolderOperations } from "../../domain/folders/operations.ts";
import type { Identity } from "../../domain/identity/service.ts";
import type { Publishing } from "../../domain/publishing/service.ts";
import type { ReviewService } from "../../domain/reviews/service.ts";
import type { RunService } from "../../domain/runs/service.ts";
import type { SearchService } from "../../domain/search/service.ts";
import type { TemplateService } from "../../domain/templates/service.ts";
import type { TopicService } from "../../domain/topics/service.ts";
import { createAccountHandlers } from "./accounts.ts";
import { createArticleHandlers } from "./articles.ts";
import { createAuthHandlers } from "./auth.ts";
import { createCommitHandlers } from "./commits.ts";
import { createContentHandlers } from "./content.ts";
import { createConversionHandlers } from "./conversions.ts";
import { createFolderHandlers } from "./folders.ts";
import { createKeyHandlers } from "./keys.ts";
import { createMemberHandlers } from "./members.ts";
import { createPublicLinkHandlers } from "./publicLinks.ts";
import { createReviewHandlers } from "./reviews.ts";
import { createRunHandlers } from "./runs.ts";
import { createSearchHandler } from "./search.ts";
import { createTemplateHandlers } from "./templates.ts";
import { createTopicHandlers } from "./topics.ts";
import { createWorkflowHandlers } from "./workflows.ts";
import { createWorkspaceHandlers } from "./workspaces.ts";

export interface HandlerServices {
  readonly identity: Pick<Identity, "services" | "tickets">;
  readonly folders: Pick<FolderOperations, "folders">;
  readonly articles: ArticleService;
  readonly reviews: Omit<ReviewService, "manifest">;
  readonly templates: Pick<TemplateService, "templates">;
  readonly publishing: Pick<Publishing, "links" | "reportFindings" | "list" | "history">;
  readonly conversions: Pick<ConversionService, "conversions">;
  readonly textRenderer: TextRenderer;
  readonly topics: Pick<TopicService, "topics">;
  readonly runs: RunService;
  readonly search: Pick<SearchService, "search">;
}

export function createHandlers(domains: HandlerServices) {
  const { identity, folders, articles, templates, reviews, publishing, conversions, textRenderer, topics, runs, search } = domains;
  const { services, tickets } = identity;
  return {
    auth: createAuthHandlers({ ...services, tickets }),
    accounts: createAccountHandlers(services),
    keys: createKeyHandlers(services),
    workspaces: { ...createWorkspaceHandlers(services), search: createSearchHandler(search.search) },
    members: createMemberHandlers(services),
    folders: createFolderHandlers(folders),
    articles: createArticleHandlers({ ...articles, copies: reviews.copies }),
    content: createContentHandlers({ ...articles, textRenderer }),
    commits: createCommitHandlers({ ...articles, textRenderer }),
    reviews: createReviewHandlers(reviews),
    templates: createTemplateHandlers({ ...templates, ...articles }),
    publicLinks: createPublicLinkHandlers(publishing),
    conversions: createConversionHandlers(conversions),
    topics: createTopicHandlers({ ...topics, ...runs }),
    workflows: createWorkflowHandlers(runs),
    runs: createRunHandlers(runs),
  } satisfies Partial<Handlers<AppContract>>;
}
