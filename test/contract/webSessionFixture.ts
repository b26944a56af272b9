/** Opens, before each test, a browser at a page of the service: identity on a store, served over HTTP. */
import { afterEach } from "vitest";
import { type Answer, createRest, type Rest } from "../support/clients.ts";
import { type Browser, openBrowser } from "../support/webPage.ts";
import { eachWithIdentity, type Identity, password, type Store } from "./identityFixture.ts";
import { type IdentityHost, startIdentityHost } from "./identityHost.ts";

export const root = { username: "root", password };
/** The public address of the service. */
export const origin = "https://content.example";
export const graceMs = 30_000;
export const dayMs = 86_400_000;
export const routes = { session: "/auth/web-session", renewal: "/auth/web-session/refresh" } as const;

export const urlOf = ({ host }: IdentityHost) => `http://127.0.0.1:${host.port}`;
export const codeOf = ({ body }: Answer<unknown>) => (body as { readonly code?: string }).code;
export const cookieHeader = (value = "") => ({ cookie: `svc_session=${value}` });

export interface WebSessionFixture {
  readonly store: Store;
  readonly identity: Identity;
  readonly served: IdentityHost;
  readonly rest: Rest;
  /** Not signed in yet. */
  readonly browser: Browser;
  /** Returns the status of /auth/me with the access token. */
  me(accessToken: string): Promise<number>;
  sessionOf(accessToken: string): Promise<string>;
}

export function eachWithBrowser(open: () => Promise<Store>, use: (fixture: WebSessionFixture) => void): void {
  let served: IdentityHost;
  eachWithIdentity(open, async ({ store, identity }) => {
    await identity.prepare(root);
    served = await startIdentityHost(identity);
    const rest = createRest(urlOf(served));
    use({
      store,
      identity,
      served,
      rest,
      browser: openBrowser(urlOf(served), origin),
      me: async (accessToken) => (await rest.request("GET", "/auth/me", undefined, { authorization: `Bearer ${accessToken}` })).status,
      async sessionOf(accessToken) {
        const principal = await identity.authenticator.authenticate({ bearer: accessToken });
        return principal.kind === "session" ? principal.sessionId : "";
      },
    });
  });
  afterEach(() => served.host.close());
}
