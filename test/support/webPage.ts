/** The requests of the service's own web app, as a browser sends them: with an origin, a header of the script and a cookie. */
import type { OperationSpec } from "../../api/contract/operation.ts";
import { type Answer, createRest } from "./clients.ts";

export const webHeader = { "x-svc-web": "1" };

/** Returns the headers without which the operation refuses a page. */
export function toPageHeaders({ webSession }: Pick<OperationSpec, "webSession">, origin: string): Record<string, string> {
  return webSession === undefined ? {} : { origin, ...webHeader };
}

interface WebSessionToken {
  readonly accessToken: string;
  readonly expiresIn: number;
}

/** Returns the value of the session cookie that an answer sets, "" if the answer clears it, undefined without the header. */
export function cookieIn({ headers }: Pick<Answer<unknown>, "headers">): string | undefined {
  return /^svc_session=([^;]*);/.exec(headers.get("set-cookie") ?? "")?.[1];
}

export interface Browser {
  /** Value of the session cookie. A test may change it. */
  cookie: string | undefined;
  open(account: { readonly username: string; readonly password: string }): Promise<Answer<WebSessionToken>>;
  /** `cookie` is the value that the tab sends if it is not the newest one; `url` is the node that the proxy chooses. */
  renew(given?: { readonly cookie?: string | undefined; readonly url?: string }): Promise<Answer<WebSessionToken>>;
  end(): Promise<Answer<unknown>>;
}

/** Opens a browser at a page of `origin`. Its tabs share the cookie. */
export function openBrowser(url: string, origin = url): Browser {
  async function send<Body>(method: string, path: string, body?: unknown, at = url, cookie = browser.cookie): Promise<Answer<Body>> {
    const rest = createRest(at, { origin, ...webHeader, ...(cookie === undefined ? {} : { cookie: `svc_session=${cookie}` }) });
    const answer = await rest.request<Body>(method, path, body);
    const given = cookieIn(answer);
    if (given !== undefined) browser.cookie = given === "" ? undefined : given;
    return answer;
  }
  const browser: Browser = {
    cookie: undefined,
    open: ({ username, password }) => send("POST", "/auth/web-session", { username, password }),
    renew: ({ cookie, url: at } = {}) => send("POST", "/auth/web-session/refresh", undefined, at, cookie),
    end: () => send("DELETE", "/auth/web-session"),
  };
  return browser;
}
