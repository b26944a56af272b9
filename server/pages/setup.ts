/**
 * The setup page: where a one-time link leads. It makes the first account, or sets the password of one that
 * an operator made, by `POST /auth/setup`.
 *
 * The page is the same for everyone and knows nothing: the token stays behind the `#` of the address, so the
 * server never sees it here. No inline script or style, nothing from elsewhere, not to be framed or kept.
 * Addresses are relative, so that the page also works below a path of a proxy.
 */
import type { HttpReply } from "../host/port.ts";
import type { Route } from "../host/router.ts";
import { setupScript } from "./setupScript.ts";
import { setupStyle } from "./setupStyle.ts";

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const setupHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Set up your account</title>
<link rel="stylesheet" href="setup/setup.css">
<script src="setup/setup.js" defer></script>
</head>
<body>
<main>
<header>
<p class="mark" aria-hidden="true"><span></span><span></span><span></span></p>
<h1 id="title">Set up your account</h1>
<p id="lead">One moment…</p>
</header>
<noscript><p class="notice">This page needs JavaScript. Without it, send the same as JSON: <code>POST /auth/setup</code> with
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
<p>Your account <strong id="doneUsername"></strong> is ready, and this link has done its work. What comes next:</p>
<ol>
<li><p>Sign in; the answer carries an access token:</p><pre><code id="signIn"></code></pre></li>
<li><p>With that token, make an API key for your scripts and agents, or open an article in your editor.
Every operation is described in <a href="openapi.json">openapi.json</a>.</p></li>
</ol>
</section>
</main>
</body>
</html>
`;

function toReply(contentType: string, body: string): HttpReply {
  return {
    status: 200,
    headers: {
      "content-type": `${contentType}; charset=utf-8`,
      "content-security-policy": contentSecurityPolicy,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
    },
    body,
  };
}

const page = toReply("text/html", setupHtml);
const script = toReply("text/javascript", setupScript);
const style = toReply("text/css", setupStyle);

export const setupRoutes: readonly Route[] = [
  { method: "GET", path: "/setup", handle: () => page },
  { method: "GET", path: "/setup/setup.js", handle: () => script },
  { method: "GET", path: "/setup/setup.css", handle: () => style },
];
