/** Tests the setup page: its content security policy, and its script on a model of the page's elements. */
import { createContext, runInContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { HttpReply } from "../host/port.ts";
import { serviceStyleRoute } from "./servicePage.ts";
import { setupRoutes } from "./setup.ts";
import { setupScript } from "./setupScript.ts";

async function get(path: string): Promise<HttpReply> {
  const route = setupRoutes.find((candidate) => candidate.path === path);
  if (route === undefined) throw new Error(`no route ${path}`);
  return route.handle({} as never, {});
}

class FakeElement {
  textContent = "";
  hidden = false;
  value = "";
  type = "password";
  disabled = false;
  focused = false;
  readonly attributes = new Map<string, string>();
  readonly listeners = new Map<string, (event: { preventDefault(): void }) => unknown>();
  getAttribute = (name: string) => this.attributes.get(name) ?? null;
  setAttribute = (name: string, value: string) => void this.attributes.set(name, value);
  removeAttribute = (name: string) => void this.attributes.delete(name);
  addEventListener = (name: string, listener: (event: { preventDefault(): void }) => unknown) => void this.listeners.set(name, listener);
  focus = () => {
    this.focused = true;
  };
}

interface Sent {
  readonly url: string;
  readonly body: Record<string, unknown>;
}

/** Opens the page at an address. `answer` is the answer of the server. */
async function openPage(address: string, answer: { status: number; body: unknown } | "unreachable" = { status: 500, body: {} }) {
  const html = String((await get("/setup")).body);
  const elements = new Map<string, FakeElement>();
  for (const [tag = "", id = ""] of html.matchAll(/<[a-z0-9]+[^>]*\sid="([^"]+)"[^>]*>/g)) {
    const element = new FakeElement();
    element.hidden = /\shidden[\s>]/.test(tag);
    elements.set(id, element);
  }
  const url = new URL(address);
  const sent: Sent[] = [];
  const location = { search: url.search, hash: url.hash, pathname: url.pathname, href: url.href };
  const history = {
    replaceState(_state: unknown, _title: string, next: string) {
      const moved = new URL(next, location.href);
      Object.assign(location, { search: moved.search, hash: moved.hash, href: moved.href });
    },
  };
  const context = createContext({
    document: {
      getElementById(id: string) {
        const element = elements.get(id);
        if (element === undefined) throw new Error(`the page has no element ${id}`);
        return element;
      },
    },
    location,
    history,
    URL,
    URLSearchParams,
    async fetch(path: string, init: { body: string }) {
      if (answer === "unreachable") throw new TypeError("fetch failed");
      sent.push({ url: new URL(path, location.href).href, body: JSON.parse(init.body) as Record<string, unknown> });
      return { status: answer.status, json: async () => answer.body };
    },
  });
  runInContext(setupScript, context);
  const at = (id: string) => elements.get(id) as FakeElement;
  return {
    at,
    sent,
    location,
    fill: (values: Record<string, string>) => {
      for (const [id, value] of Object.entries(values)) at(id).value = value;
    },
    submit: async () => at("form").listeners.get("submit")?.({ preventDefault: () => {} }),
  };
}

const firstLink = "https://content.example/setup#token=first.abc";

describe("the setup page", () => {
  it("[AU32] the setup page has a policy that allows only its own script, style and requests", async () => {
    const { headers, body, status } = await get("/setup");
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    });
    const html = String(body);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|https?:/);
    const [style, ...others] = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
    expect(style).toBe(serviceStyleRoute.path.slice(1));
    expect(others).toEqual(["setup/setup.js", "./", "openapi.json", "problems"]);
    expect((await get("/setup/setup.js")).headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(setupScript).not.toMatch(/innerHTML|document\.write|eval\(|new Function/);
  });

  it("[AU32] the page makes the first account: username, JSON to the same origin, next steps", async () => {
    const made = { status: 201, body: { username: "ann", displayName: "Ann", operator: true, disabled: false, createdAt: 1 } };
    const page = await openPage(firstLink, made);
    expect(page.at("form").hidden).toBe(false);
    expect(page.at("usernameField").hidden).toBe(false);
    page.fill({ username: " Ann ", displayName: " Ann ", password: "correct horse battery" });
    await page.submit();
    expect(page.sent).toEqual([
      {
        url: "https://content.example/auth/setup",
        body: { token: "first.abc", password: "correct horse battery", username: "ann", displayName: "Ann" },
      },
    ]);
    expect(page.at("form").hidden).toBe(true);
    expect(page.at("done").hidden).toBe(false);
    expect(page.at("doneUsername").textContent).toBe("ann");
    expect(page.at("signIn").textContent).toContain("curl https://content.example/auth/token");
    expect(page.at("signIn").textContent).not.toContain("correct horse");
    expect(page.location.hash).toBe("");
  });

  it("[AU32] the page sets the password of a waiting account without asking for a username", async () => {
    const page = await openPage("https://content.example/base/setup#token=usr_1.abc&username=ann", {
      status: 201,
      body: { username: "ann" },
    });
    expect(page.at("usernameField").hidden).toBe(true);
    expect(page.at("lead").textContent).toBe("Your username is ann.");
    page.fill({ password: "correct horse battery" });
    await page.submit();
    expect(page.sent).toEqual([
      { url: "https://content.example/base/auth/setup", body: { token: "usr_1.abc", password: "correct horse battery" } },
    ]);
    expect(page.at("done").hidden).toBe(false);
  });

  it("[AU32] the page moves a token from the query behind the #", async () => {
    const page = await openPage("https://content.example/setup?token=first.abc");
    expect(page.location).toMatchObject({ search: "", hash: "#token=first.abc" });
    expect(page.at("form").hidden).toBe(false);
  });

  it("[AU32] the page reports a missing value before it sends anything", async () => {
    const page = await openPage(firstLink);
    page.fill({ username: "-ann", password: "short" });
    await page.submit();
    expect(page.sent).toEqual([]);
    expect(page.at("usernameError").textContent).toContain("begin and end");
    expect(page.at("passwordError").textContent).toContain("too short");
    expect(page.at("username").attributes.get("aria-invalid")).toBe("true");
    page.at("username").listeners.get("input")?.({ preventDefault: () => {} });
    expect(page.at("usernameError").textContent).toBe("");
  });

  it("[AU32] the page shows a refusal at its field and keeps the typed values", async () => {
    const taken = {
      status: 409,
      body: { detail: "taken", errors: [{ pointer: "/username", message: "This username belongs to another account." }] },
    };
    const page = await openPage(firstLink, taken);
    page.fill({ username: "ann", password: "correct horse battery" });
    await page.submit();
    expect(page.at("usernameError").textContent).toBe("This username belongs to another account.");
    expect(page.at("problem").hidden).toBe(true);
    expect(page.at("password").value).toBe("correct horse battery");
    expect(page.at("submit").disabled).toBe(false);
  });

  it("[AU32] the page says that a link has expired and how to get another", async () => {
    for (const [address, how] of [
      [firstLink, "Start the server again"],
      ["https://content.example/setup#token=usr_1.abc", "Ask the person who sent it"],
    ] as const) {
      const page = await openPage(address, { status: 410, body: { detail: "gone" } });
      page.fill({ username: "ann", password: "correct horse battery" });
      await page.submit();
      expect(page.at("form").hidden).toBe(true);
      expect(page.at("problem").textContent).toContain(how);
    }
    const empty = await openPage("https://content.example/setup");
    expect(empty.at("form").hidden).toBe(true);
    expect(empty.at("problem").textContent).toContain("no setup token");
  });

  it("[AU32] the page reports an unreachable server, an exceeded rate and any other answer", async () => {
    for (const [answer, text] of [
      ["unreachable", "could not be reached"],
      [{ status: 429, body: { retryAfter: 3.2 } }, "Wait 4 seconds"],
      [{ status: 507, body: { detail: "The disk is full." } }, "The disk is full."],
      [{ status: 500, body: {} }, "status 500"],
    ] as const) {
      const page = await openPage(firstLink, answer);
      page.fill({ username: "ann", password: "correct horse battery" });
      await page.submit();
      expect(page.at("problem").textContent).toContain(text);
      expect(page.at("problem").focused).toBe(true);
      expect(page.at("form").hidden).toBe(false);
    }
  });

  it("[AU32] the page shows and hides the password on request", async () => {
    const page = await openPage(firstLink);
    const click = () => page.at("show").listeners.get("click")?.({ preventDefault: () => {} });
    click();
    expect(page.at("password").type).toBe("text");
    click();
    expect(page.at("password").type).toBe("password");
  });
});
