/** The addresses of the app. Screens are loaded when they are first opened. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Navigate, Outlet, redirect } from "@tanstack/react-router";
import { z } from "zod/mini";
import { ArticlesScreen } from "../screens/articles/ArticlesScreen.tsx";
import { SetupScreen } from "../screens/entry/SetupScreen.tsx";
import { Notices } from "../ui/notices.tsx";
import { ProblemView } from "../ui/problem.tsx";
import { Home } from "./Home.tsx";
import { NotFound } from "./NotFound.tsx";
import { SessionGate } from "./SessionGate.tsx";
import { Shell } from "./Shell.tsx";

/** Search parameters: a value that is missing or wrong counts as not given. */
const choice = <const Values extends readonly string[]>(values: Values) => z.catch(z.optional(z.enum(values)), undefined);
const someText = z.catch(z.optional(z.string()), undefined);

const root = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <Notices />
    </>
  ),
  notFoundComponent: NotFound,
});

const setup = createRoute({ getParentRoute: () => root, path: "setup", component: SetupScreen });
const gate = createRoute({ getParentRoute: () => root, id: "session", component: SessionGate });
const home = createRoute({ getParentRoute: () => gate, path: "/", component: Home });
/** The form shows at every address while nobody is signed in. This address is for links and bookmarks. */
const signIn = createRoute({ getParentRoute: () => gate, path: "sign-in", component: () => <Navigate to="/" replace /> });
const account = createRoute({
  getParentRoute: () => gate,
  path: "account",
  component: lazyRouteComponent(() => import("../screens/account/AccountScreen.tsx"), "AccountScreen"),
});

const workspace = createRoute({ getParentRoute: () => gate, path: "w/$workspaceId", component: Shell });
const workspaceHome = createRoute({
  getParentRoute: () => workspace,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/w/$workspaceId/articles", params, replace: true });
  },
});
const articles = createRoute({
  getParentRoute: () => workspace,
  path: "articles",
  validateSearch: z.object({
    /** An id, or `null` for articles in no folder. */
    folder: someText,
    q: someText,
    sort: choice(["updatedAt", "createdAt", "title"]),
    state: choice(["public", "private", "trash"]),
    author: someText,
  }),
  component: ArticlesScreen,
});
const article = createRoute({
  getParentRoute: () => workspace,
  path: "articles/$articleId",
  validateSearch: z.object({
    file: choice(["content.md", "outline.md", "research.md"]),
    panel: choice(["reviews", "history", "publish", "runs", "outline"]),
    view: choice(["write", "both", "page"]),
    review: someText,
  }),
  component: lazyRouteComponent(() => import("../screens/article/ArticleScreen.tsx"), "ArticleScreen"),
});
const topics = createRoute({
  getParentRoute: () => workspace,
  path: "topics",
  validateSearch: z.object({ view: choice(["board", "table"]), q: someText, status: someText, project: someText, sort: someText }),
  component: lazyRouteComponent(() => import("../screens/topics/TopicsScreen.tsx"), "TopicsScreen"),
});
const topic = createRoute({
  getParentRoute: () => workspace,
  path: "topics/$topicId",
  validateSearch: z.object({ panel: choice(["outline", "draft", "runs", "audit"]) }),
  component: lazyRouteComponent(() => import("../screens/topics/TopicScreen.tsx"), "TopicScreen"),
});
const runs = createRoute({
  getParentRoute: () => workspace,
  path: "runs",
  validateSearch: z.object({ state: someText, topic: someText }),
  component: lazyRouteComponent(() => import("../screens/runs/RunsScreen.tsx"), "RunsScreen"),
});
const run = createRoute({
  getParentRoute: () => workspace,
  path: "runs/$runId",
  component: lazyRouteComponent(() => import("../screens/runs/RunScreen.tsx"), "RunScreen"),
});
const activity = createRoute({
  getParentRoute: () => workspace,
  path: "activity",
  component: lazyRouteComponent(() => import("../screens/runs/ActivityScreen.tsx"), "ActivityScreen"),
});
const settings = createRoute({
  getParentRoute: () => workspace,
  path: "settings",
  component: lazyRouteComponent(() => import("../screens/settings/SettingsScreen.tsx"), "SettingsScreen"),
});
const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/w/$workspaceId/settings/general", params, replace: true });
  },
});
const general = createRoute({
  getParentRoute: () => settings,
  path: "general",
  component: lazyRouteComponent(() => import("../screens/settings/GeneralPage.tsx"), "GeneralPage"),
});
const members = createRoute({
  getParentRoute: () => settings,
  path: "members",
  component: lazyRouteComponent(() => import("../screens/settings/MembersPage.tsx"), "MembersPage"),
});
const keys = createRoute({
  getParentRoute: () => settings,
  path: "keys",
  component: lazyRouteComponent(() => import("../screens/settings/KeysPage.tsx"), "KeysPage"),
});
const webhooks = createRoute({
  getParentRoute: () => settings,
  path: "webhooks",
  component: lazyRouteComponent(() => import("../screens/settings/WebhooksPage.tsx"), "WebhooksPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    setup,
    gate.addChildren([
      home,
      signIn,
      account,
      workspace.addChildren([
        workspaceHome,
        articles,
        article,
        topics,
        topic,
        runs,
        run,
        activity,
        settings.addChildren([settingsHome, general, members, keys, webhooks]),
      ]),
    ]),
  ]),
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultErrorComponent: ({ error, reset }) => (
    <ProblemView error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
  ),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
