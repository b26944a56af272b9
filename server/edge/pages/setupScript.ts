/**
 * SetupScript holds the script of the setup page. It is served as a separate file, so that the content security policy
 * of the page can forbid inline scripts. The script must write text only, never markup.
 */
export const setupScript = String.raw`"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const fields = ["username", "displayName", "password"];
  const query = new URLSearchParams(location.search);
  const given = new URLSearchParams(location.hash.slice(1));
  // Move a token from the query to the fragment, because a fragment is neither sent nor logged.
  if (query.has("token")) {
    given.set("token", query.get("token"));
    history.replaceState(null, "", location.pathname + "#" + given);
  }
  const token = given.get("token") || "";
  const isFirst = token.startsWith("first.");
  const knownUsername = given.get("username") || "";

  const problem = (text) => {
    at("problem").textContent = text;
    at("problem").hidden = text === "";
    if (text !== "") at("problem").focus();
  };
  const fieldError = (field, text) => {
    at(field + "Error").textContent = text;
    if (text === "") at(field).removeAttribute("aria-invalid");
    else at(field).setAttribute("aria-invalid", "true");
  };
  const stop = (lead, text) => {
    at("form").hidden = true;
    at("lead").textContent = lead;
    problem(text);
  };

  if (token === "") {
    stop("This page needs a setup link.", "The address contains no setup token. Open the link exactly as you received it.");
    return;
  }
  if (isFirst) {
    at("title").textContent = "Welcome";
    at("lead").textContent = "Create the first account of this server. It can manage all other accounts.";
  } else {
    at("title").textContent = "Choose your password";
    at("lead").textContent = knownUsername === "" ? "Set the password of your account." : "Your username is " + knownUsername + ".";
    at("usernameField").hidden = true;
    // The hidden username stays in the form, so that password managers store the password under it.
    at("username").value = knownUsername;
    at("submit").textContent = "Set password";
  }
  at("form").hidden = false;
  at(isFirst ? "username" : "password").focus();

  at("show").addEventListener("click", () => {
    const shown = at("password").type === "text";
    at("password").type = shown ? "password" : "text";
    at("show").textContent = shown ? "Show" : "Hide";
    at("show").setAttribute("aria-pressed", String(!shown));
  });
  for (const field of fields) at(field).addEventListener("input", () => fieldError(field, ""));

  const check = () => {
    const username = at("username").value.trim().toLowerCase();
    if (isFirst && !/^[a-z0-9](?:[a-z0-9._-]{0,36}[a-z0-9])?$/.test(username)) {
      fieldError("username", username === "" ? "Choose a username." : "Use a–z, 0–9, dot, underscore or hyphen; begin and end with a letter or digit.");
    }
    const length = at("password").value.length;
    if (length < 10) fieldError("password", length === 0 ? "Choose a password." : "This is too short: at least 10 characters, please.");
    const wrong = fields.find((field) => at(field).getAttribute("aria-invalid") === "true");
    if (wrong !== undefined) at(wrong).focus();
    return wrong === undefined;
  };

  const refused = (status, answer) => {
    if (status === 410) {
      stop("This link no longer works.", isFirst
        ? "It was used already, or it has expired. Start the server again: it prints a new link until the first account exists."
        : "It was used already, or it has expired. Ask the person who sent it for a new one.");
      return;
    }
    if (status === 429) {
      const seconds = answer.retryAfter === undefined ? "a few" : Math.ceil(answer.retryAfter);
      problem("Too many attempts from this address. Wait " + seconds + " seconds, then try again.");
      return;
    }
    const rest = [];
    for (const error of answer.errors || []) {
      const field = error.pointer.slice(1);
      if (fields.includes(field) && !(field === "username" && !isFirst)) fieldError(field, error.message);
      else rest.push(error.message);
    }
    const marked = fields.find((field) => at(field).getAttribute("aria-invalid") === "true");
    if (marked !== undefined) at(marked).focus();
    if (marked === undefined || rest.length > 0) problem(rest.join(" ") || answer.detail || "The server refused this (status " + status + ").");
  };

  const succeeded = (account) => {
    history.replaceState(null, "", location.pathname);
    at("form").hidden = true;
    at("title").textContent = "All set";
    at("lead").textContent = "Welcome, " + (account.displayName || account.username) + ".";
    at("doneUsername").textContent = account.username;
    const address = new URL("auth/token", location.href.split(/[?#]/)[0]).href;
    const body = JSON.stringify({ grantType: "password", username: account.username, password: "…" });
    at("signIn").textContent = "curl " + address + " \\\n  -H 'content-type: application/json' \\\n  -d '" + body + "'";
    at("done").hidden = false;
    at("done").focus();
  };

  at("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    problem("");
    if (!check()) return;
    const displayName = at("displayName").value.trim();
    const request = { token, password: at("password").value };
    if (isFirst) request.username = at("username").value.trim().toLowerCase();
    if (displayName !== "") request.displayName = displayName;
    at("submit").disabled = true;
    try {
      const response = await fetch("auth/setup", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(request),
      });
      const answer = await response.json().catch(() => ({}));
      if (response.status === 201) succeeded(answer);
      else refused(response.status, answer);
    } catch {
      problem("The server could not be reached. Check that it is running, then try again.");
    } finally {
      at("submit").disabled = false;
    }
  });
})();
`;
