/**
 * Setup serves the setup page, the target of a one-time link. The page creates the first account, or sets the password
 * of an account that an operator created, with `POST /auth/setup`.
 *
 * The page is the same for everyone: the token is in the fragment (`#`) of the address, so the server never receives it.
 * The page has no inline script or style, loads nothing from other hosts, and can be neither framed nor cached.
 */
import type { HttpReply } from "../host/port.ts";
import type { Route } from "../host/router.ts";
import { mark, servicePageHeaders, toServicePage } from "./servicePage.ts";
import { setupScript } from "./setupScript.ts";

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const body = `<header>
${mark}
<h1 id="title">Set up your account</h1>
<p id="lead">One moment…</p>
</header>
<noscript><p class="notice">This page needs JavaScript. Without it, send the same values as JSON to <code>POST /auth/setup</code>:
<code>token</code>, <code>password</code> and, for the first account, <code>username</code>.</p></noscript>
<p id="problem" class="notice" role="alert" tabindex="-1" hidden></p>
<form id="form" novalidate hidden>
<div class="field" id="usernameField">
<label for="username">Username</label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="38"
 aria-describedby="usernameHint usernameError">
<p class="hint" id="usernameHint">1 to 38 of a–z, 0–9, dot, underscore and hyphen. It can never be changed.</p>
<p class="error" id="usernameError"></p>
</div>
<div class="field">
<label for="displayName">Name <span class="optional">optional</span></label>
<input id="displayName" name="displayName" autocomplete="name" maxlength="120" aria-describedby="displayNameError">
<p class="error" id="displayNameError"></p>
</div>
<div class="field">
<label for="password">Password</label>
<div class="withButton">
<input id="password" name="password" type="password" autocomplete="new-password" maxlength="200"
 aria-describedby="passwordHint passwordError">
<button type="button" id="show" aria-pressed="false" aria-controls="password">Show</button>
</div>
<p class="hint" id="passwordHint">At least 10 characters. A few random words make a good one.</p>
<p class="error" id="passwordError"></p>
</div>
<button type="submit" id="submit">Create account</button>
</form>
<section id="done" aria-live="polite" tabindex="-1" hidden>
<p>Your account <strong id="doneUsername"></strong> is ready, and this link no longer works.</p>
<p>There is no web app yet: people and programs use this server over its API. Sign in from a shell; the answer contains an
access token:</p>
<pre><code id="signIn"></code></pre>
<p>The start page shows the next commands: a first article, its public page, a key for scripts, live editing.</p>
<p><a class="button" href="./">Go to the start page</a></p>
<p>Every operation is described in <a href="openapi.json">openapi.json</a>, every error code in <a href="problems">problems</a>.</p>
</section>`;

const setupHtml = toServicePage({
  title: "Set up your account",
  toRoot: "",
  head: '<script src="setup/setup.js" defer></script>\n',
  body,
});

function toReply(contentType: string, body: string): HttpReply {
  return {
    status: 200,
    headers: {
      ...servicePageHeaders,
      "content-type": `${contentType}; charset=utf-8`,
      "content-security-policy": contentSecurityPolicy,
      "cache-control": "no-store",
      "cross-origin-opener-policy": "same-origin",
    },
    body,
  };
}

const page = toReply("text/html", setupHtml);
const script = toReply("text/javascript", setupScript);

export const setupRoutes: readonly Route[] = [
  { method: "GET", path: "/setup", handle: () => page },
  { method: "GET", path: "/setup/setup.js", handle: () => script },
];
