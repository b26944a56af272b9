/**
 * The page at `/`: what this server is and where to look, for the person who has just started it. It is the same for
 * everyone but for one line: whether the first account is still to be made.
 */
import type { HttpReply } from "../host/port.ts";
import type { Route } from "../host/router.ts";
import { setupStyle } from "./setupStyle.ts";

export interface WelcomeOptions {
  readonly hasAccount: () => Promise<boolean>;
  readonly version: string;
}

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** On top of the style of the setup page, whose look it shares. */
const style = `${setupStyle}
main { max-width: 40rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.25rem; margin: 0; }
dt { font-family: ui-monospace, SFMono-Regular, Menlo, monospace; font-size: .875rem; line-height: 1.7; overflow-wrap: anywhere; }
dd { margin: 0; }
.lead { margin: .4rem 0 0; color: var(--quiet); }
.next { margin: 1.5rem 0 0; padding: .7rem .8rem; border: 1px solid var(--accent); border-radius: .4rem; }
footer { margin-top: 2rem; font-size: .875rem; color: var(--quiet); }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .75rem; } }
`;

function toHtml({ version }: WelcomeOptions, hasAccount: boolean): string {
  const next = hasAccount
    ? `<p class="next">Sign in with <code>POST /auth/token</code>; the answer carries an access token for everything below.</p>`
    : `<p class="next"><strong>There is no account yet.</strong> The server has printed a one-time link to its setup page on standard error;
open that link to make the first account. A new start prints a new one.</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Content workspace</title>
<link rel="stylesheet" href="welcome.css">
</head>
<body>
<main>
<header>
<p class="mark" aria-hidden="true"><span></span><span></span><span></span></p>
<h1>Content workspace</h1>
<p class="lead">Articles that people and programs write together, live. What anybody has seen is on disk; every
commit can tell a webhook; every article can be a public page.</p>
</header>
${next}
<h2>Where to look</h2>
<dl>
<dt><a href="openapi.json">/openapi.json</a></dt><dd>Every operation over REST, as OpenAPI 3.0.</dd>
<dt>/trpc</dt><dd>The same operations for a stock tRPC client, with their types.</dd>
<dt>/collab/{articleId}</dt><dd>The live document, for a stock y-websocket client with a ticket of <code>POST /auth/stream-ticket</code>.</dd>
<dt><a href="problems">/problems</a></dt><dd>What each error code means and what to do about it.</dd>
<dt><a href="healthz">/healthz</a>, <a href="readyz">/readyz</a></dt><dd>Whether the process answers, and whether it takes traffic.</dd>
</dl>
<footer>Version ${version}. README.md and docs/ in the source tell the rest.</footer>
</main>
</body>
</html>
`;
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
    {
      method: "GET",
      path: "/welcome.css",
      handle: () => ({ status: 200, headers: { ...headers, "content-type": "text/css; charset=utf-8" }, body: style }),
    },
  ];
}
