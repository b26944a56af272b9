/**
 * Welcome serves the page at `/`. It explains the server and the first steps to the person who has just started it.
 *
 * The page is the same for everyone, and only one part depends on the state of the server. It shows how to open the
 * set-up page until the first account exists, and the first commands afterwards. A test runs these commands.
 */
import type { HttpReply } from "../host/port.ts";
import type { Route } from "../host/router.ts";
import { escapeHtml } from "./escapeHtml.ts";
import { mark, servicePageHeaders, toServicePage } from "./servicePage.ts";

export interface WelcomeOptions {
  readonly hasAccount: () => Promise<boolean>;
  readonly version: string;
  /** Never ends with a slash. */
  readonly baseUrl: string;
}

const headers = { ...servicePageHeaders, "cache-control": "no-store" };

/** One step of the page: a heading, the commands and their result. `commands` is shell text, the other two are HTML. */
interface Step {
  readonly title: string;
  readonly commands: string;
  readonly outcome: string;
}

const toSteps = (baseUrl: string): readonly Step[] => [
  {
    title: "Sign in",
    commands: `url=${baseUrl}
username='your username'
password='your password'

json='content-type: application/json'
api() { curl -sS -H "$json" -H "authorization: Bearer $token" "$@"; }
field() {
  answer=$(cat)
  value=$(printf '%s' "$answer" | sed -n 's/.*"'$1'":"\\([^"]*\\)".*/\\1/p')
  if [ -n "$value" ]; then echo "$value"; else printf '%s\\n' "$answer" >&2; fi
}
token=$(api $url/auth/token -d '{"grantType": "password",
  "username": "'"$username"'", "password": "'"$password"'"}' |
  field accessToken)`,
    outcome: "The access token is valid for minutes, not days; the full answer also contains a refresh token.",
  },
  {
    title: "Write an article and make it public",
    commands: `workspace=$(api $url/workspaces | field workspaceId)
article=$(api $url/articles -d '{"workspaceId": "'$workspace'",
  "title": "Hello", "content": "# Hello\\n\\nFrom the first minute.\\n"}' |
  field articleId)
api -X PUT $url/articles/$article/public-link -d '{}' | field url`,
    outcome: "Open the printed address in any browser: the page follows every later edit.",
  },
  {
    title: "Create a key for scripts and agents",
    commands: `api $url/api-keys -d '{"name": "First key"}' | field key`,
    outcome:
      "The key is shown only once. Send it as <code>x-api-key</code>; <code>scopes</code> and <code>expiresAt</code> limit what it can do.",
  },
  {
    title: "Type in the article live",
    commands: `api $url/auth/stream-ticket -d '{"resource": "article:'$article'"}' |
  field ticket`,
    outcome: `A stock y-websocket client connects to <code>/collab/{articleId}</code> with that ticket in <code>params</code>;
<code>docs/editor.md</code> has the code.`,
  },
];

function toFirstMinute(baseUrl: string): string {
  const steps = toSteps(baseUrl).map(
    ({ title, commands, outcome }) => `<h2>${title}</h2>\n<pre><code>${escapeHtml(commands)}</code></pre>\n<p>${outcome}</p>`,
  );
  return `<p class="next">There is no web app yet. People and programs use this server over its API: with curl, scripts, agents and
editors of their own. These commands need only a shell and curl.</p>
${steps.join("\n")}`;
}

const beforeSetup = `<p class="next"><strong>There is no account yet.</strong> The server has printed a one-time link to its setup page on standard error;
open that link to create the first account. Each start prints a new link until the account exists.</p>`;

function toHtml({ version, baseUrl }: WelcomeOptions, hasAccount: boolean): string {
  return toServicePage({
    title: "Content workspace",
    toRoot: "",
    isWide: true,
    body: `<header>
${mark}
<h1>Content workspace</h1>
<p class="lead">Articles in Markdown that people and programs write together, live. Every change is on disk before others see it,
every commit can call a webhook, and every article can be a public page.</p>
</header>
${hasAccount ? toFirstMinute(baseUrl) : beforeSetup}
<h2>Where to look</h2>
<dl>
<dt><a href="openapi.json"><code>/openapi.json</code></a></dt><dd>Every operation over REST, as OpenAPI 3.0.</dd>
<dt><code>/trpc</code></dt><dd>The same operations for a stock tRPC client, with their types.</dd>
<dt><code>/collab/{articleId}</code></dt><dd>The live document, for a stock y-websocket client.</dd>
<dt><a href="problems"><code>/problems</code></a></dt><dd>What each error code means and what to do about it.</dd>
<dt><a href="healthz"><code>/healthz</code></a>, <a href="readyz"><code>/readyz</code></a></dt><dd>Whether the process answers, and whether it takes traffic.</dd>
<dt><code>README.md</code>, <code>docs/</code></dt><dd>In the source: runs of agents, live editing, typed clients, webhooks, settings.</dd>
</dl>
<footer>Version ${version}</footer>`,
  });
}

export function createWelcomeRoutes(options: WelcomeOptions): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/",
      async handle(): Promise<HttpReply> {
        return { status: 200, headers, body: toHtml(options, await options.hasAccount()) };
      },
    },
  ];
}
