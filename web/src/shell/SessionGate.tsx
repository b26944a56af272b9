import { Outlet } from "@tanstack/react-router";
import { useSelector } from "@xstate/react";
import { Fragment } from "react";
import { SignInScreen } from "../screens/entry/SignInScreen.tsx";
import { sessionStore } from "../session/session.ts";

/** Shows what is behind it to people who are signed in, and the sign-in form to others: at the same address. */
export function SessionGate() {
  const session = useSelector(sessionStore, ({ context }) => context);
  switch (session.status) {
    case "signedIn":
      // Forms and lists of one person are not those of the next.
      return (
        <Fragment key={session.me.username}>
          <Outlet />
        </Fragment>
      );
    case "signedOut":
      return <SignInScreen ending={session.ending} />;
    case "starting":
      return <p className="sr-only">Opening the workspace</p>;
    case "unreachable":
      return (
        <p role="status" className="flex h-full items-center justify-center p-6 text-muted">
          The server does not answer. Trying again…
        </p>
      );
  }
}
