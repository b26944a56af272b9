/** Access tokens: kept in memory, renewed before they expire, by one renewal at a time. */
import { readApiError, toApiError } from "./apiError.ts";
import type { Contract } from "./contract.ts";

export interface AccessToken {
  readonly accessToken: string;
  /** Seconds until the token expires. */
  readonly expiresIn: number;
}

/** The source of the access tokens of an Api. */
export interface Tokens {
  /** Resolves to a token that is valid for some seconds at least. Calls at the same time share one renewal. */
  get(): Promise<string>;
  /** Forgets a token that the server refused. The next `get` renews it. */
  refuse(token: string): void;
}

/** A token that expires earlier is renewed before it is used. */
const leastLifeMs = 10_000;

/**
 * Makes a source from a function that gets a new token, such as a refresh by cookie. Errors of `renew` reject the calls
 * that wait for it; the next call tries again. `first` is a token that exists already.
 */
export function createTokens(renew: () => Promise<AccessToken>, first?: AccessToken): Tokens {
  let current: { readonly token: string; readonly expiresAtMs: number } | undefined;
  let renewal: Promise<string> | undefined;

  function keep({ accessToken, expiresIn }: AccessToken): string {
    current = { token: accessToken, expiresAtMs: Date.now() + expiresIn * 1000 };
    return accessToken;
  }

  if (first !== undefined) keep(first);
  return {
    async get() {
      if (renewal === undefined) {
        if (current !== undefined && current.expiresAtMs - Date.now() > leastLifeMs) return current.token;
        renewal = renew()
          .then(keep)
          .finally(() => {
            renewal = undefined;
          });
      }
      return renewal;
    },
    refuse(token) {
      if (current?.token === token) current = undefined;
    },
  };
}

export interface SignInOptions {
  /** Address of the server, such as `https://content.example`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

type Grant = Contract["auth"]["token"]["output"];

/** Signs in with a password. The refresh token stays in memory. Throws an ApiError if the server refuses. */
export async function signIn({ url, username, password }: SignInOptions): Promise<Tokens> {
  async function grant(body: Contract["auth"]["token"]["input"]): Promise<Grant> {
    try {
      const answer = await fetch(new URL("/auth/token", url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw await readApiError(answer);
      return (await answer.json()) as Grant;
    } catch (reason) {
      throw toApiError(reason);
    }
  }

  const first = await grant({ grantType: "password", username, password });
  let { refreshToken } = first;
  async function renew(): Promise<AccessToken> {
    const fresh = await grant({ grantType: "refresh_token", refreshToken });
    refreshToken = fresh.refreshToken;
    return fresh;
  }
  return createTokens(renew, first);
}
