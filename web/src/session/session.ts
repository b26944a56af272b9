/**
 * The session of the person who uses the app: the access token stays in memory, the refresh token in a cookie that scripts
 * cannot read (docs/authentication.md, web session). All tabs of a browser share the session.
 */
import { createStore } from "@xstate/store";
import type { Me } from "../../../api/schema/account.ts";
import { type AccessToken, type Api, ApiError, createApi, createTokens } from "../../../client/index.ts";
import { forgetOffline } from "./offlineText.ts";
import { forgetUnsent } from "./unsent.ts";

type Ending = "signedOut" | "expired";

/**
 * - `starting`: the app asks whether the cookie still has a session.
 * - `unreachable`: there is no answer; the app asks again by itself.
 * - `signedIn`: calls can be made. A token that expires is renewed by itself.
 * - `signedOut`: the person has to sign in. `ending` says why, if there was a session.
 */
export type SessionState =
  | { readonly status: "starting" }
  | { readonly status: "unreachable"; readonly attempts: number }
  | { readonly status: "signedIn"; readonly me: Me }
  | { readonly status: "signedOut"; readonly ending: Ending | undefined };

export const sessionStore = createStore({
  context: { status: "starting" } as SessionState,
  on: {
    found: (_state, { me }: { me: Me }): SessionState => ({ status: "signedIn", me }),
    unreachable: (state): SessionState => ({
      status: "unreachable",
      attempts: state.status === "unreachable" ? state.attempts + 1 : 1,
    }),
    ended: (_state, { ending }: { ending: Ending | undefined }): SessionState => ({ status: "signedOut", ending }),
  },
});

const webSession = "/auth/web-session";
/** Tells the other tabs of this browser that the session began or ended. */
const channel = new BroadcastChannel("session");
type TabMessage = "signedIn" | "signedOut";

async function request(path: string, init: RequestInit): Promise<Response> {
  const { fetch } = createApi({ url: location.origin });
  return fetch(path, { ...init, headers: { "content-type": "application/json", "x-svc-web": "1" } });
}

async function renew(): Promise<AccessToken> {
  try {
    return (await (await request(`${webSession}/refresh`, { method: "POST" })).json()) as AccessToken;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401 && sessionStore.getSnapshot().context.status === "signedIn")
      sessionStore.trigger.ended({ ending: "expired" });
    throw error;
  }
}

let tokens = createTokens(renew);

/** The API with the credential of the session. The same object for the whole life of the page. */
export const api: Api = createApi({
  url: location.origin,
  tokens: {
    get: () => tokens.get(),
    refuse: (token) => tokens.refuse(token),
  },
});

const longestPauseMs = 10_000;
let retry: ReturnType<typeof setTimeout> | undefined;
/** Grows with each beginning and end of a session, so that a late answer does not bring an earlier one back. */
let generation = 0;

/** Finds out whether the cookie has a session. Asks again, with growing pauses, while the server cannot be reached. */
export async function resumeSession(): Promise<void> {
  clearTimeout(retry);
  const asked = generation;
  try {
    const me = await api.trpc.auth.me.query();
    if (asked === generation) sessionStore.trigger.found({ me });
  } catch (reason) {
    if (asked !== generation) return;
    if (reason instanceof ApiError && !reason.isTemporary) return sessionStore.trigger.ended({ ending: undefined });
    // What is open stays open: its own calls try again.
    if (sessionStore.getSnapshot().context.status !== "signedIn") sessionStore.trigger.unreachable();
    const { context } = sessionStore.getSnapshot();
    const attempts = context.status === "unreachable" ? context.attempts : 1;
    retry = setTimeout(() => void resumeSession(), Math.min(longestPauseMs, 500 * 2 ** attempts));
  }
}

/** Throws an ApiError if the server refuses. */
export async function signIn(username: string, password: string): Promise<void> {
  generation += 1;
  const answer = await request(webSession, { method: "POST", body: JSON.stringify({ username, password }) });
  tokens = createTokens(renew, (await answer.json()) as AccessToken);
  sessionStore.trigger.found({ me: await api.trpc.auth.me.query() });
  tell("signedIn");
}

/** Ends the session on the server and in all tabs. Throws an ApiError if the server cannot be reached: the session then lasts. */
export async function signOut(): Promise<void> {
  await request(webSession, { method: "DELETE" });
  leave("signedOut");
  tell("signedOut");
}

/** Reads the account again after it was changed. */
export async function refreshMe(): Promise<void> {
  sessionStore.trigger.found({ me: await api.trpc.auth.me.query() });
}

function forgetAll(username: string): void {
  forgetUnsent(username);
  void forgetOffline(username).catch(() => undefined);
}

function leave(ending: Ending): void {
  const { context } = sessionStore.getSnapshot();
  if (ending === "signedOut" && context.status === "signedIn") forgetAll(context.me.username);
  generation += 1;
  tokens = createTokens(renew);
  sessionStore.trigger.ended({ ending });
}

function tell(message: TabMessage): void {
  channel.postMessage(message);
}

channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
  if (data === "signedOut") leave("signedOut");
  else {
    tokens = createTokens(renew);
    void resumeSession();
  }
};
