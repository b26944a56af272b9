import { useSelector } from "@xstate/react";
import type { Me } from "../../../api/schema/account.ts";
import { sessionStore } from "../session/session.ts";

/** The person who is signed in. Only for components behind the SessionGate. */
export function useMe(): Me {
  return useSelector(sessionStore, ({ context }) => {
    if (context.status !== "signedIn") throw new Error("useMe is for components behind the SessionGate");
    return context.me;
  });
}
