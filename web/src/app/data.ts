/** The server state of the app: one cache of answers, one client, one rule for retries. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { ApiError } from "../../../client/index.ts";
import { type AppRouter, toTrpcClient } from "../../../client/router.ts";
import { api, sessionStore } from "../session/session.ts";
import { noticeStore } from "../ui/notices.tsx";

const mostAttempts = 3;

export const queryClient = new QueryClient({
  queryCache: new QueryCache(),
  mutationCache: new MutationCache({
    // A form that shows its own errors says so with `meta: { showsError: true }`.
    onError: (error, _variables, _result, mutation) => {
      if (mutation.meta?.showsError !== true) noticeStore.trigger.show({ kind: "error", text: error.message });
    },
  }),
  defaultOptions: {
    queries: {
      // The server may be on this machine or network while the browser knows of no internet.
      networkMode: "always",
      refetchOnReconnect: true,
      staleTime: 10_000,
      retry: (failures, error) => error instanceof ApiError && error.isTemporary && failures < mostAttempts,
      retryDelay: (failures, error) =>
        Math.max(error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0, Math.min(8000, 400 * 2 ** failures)),
    },
    // Repeating a change is the decision of the person: the first attempt may have succeeded.
    mutations: { networkMode: "always", retry: false },
  },
});

let reader: string | undefined;
// What one person has read must not be shown to the next one at this browser.
sessionStore.subscribe(({ context }) => {
  const username = context.status === "signedIn" ? context.me.username : undefined;
  if (context.status === "signedOut" || (username !== undefined && reader !== undefined && username !== reader)) {
    queryClient.clear();
    noticeStore.trigger.clear();
  }
  if (username !== undefined) reader = username;
});

export const trpc = createTRPCOptionsProxy<AppRouter>({ client: toTrpcClient(api), queryClient });
export const client = api.trpc;

/** The reading of a list that has pages: pass it the input without `nextToken`, and the call. */
export const pageOptions = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page: { readonly nextToken?: string | undefined }) => page.nextToken,
};
