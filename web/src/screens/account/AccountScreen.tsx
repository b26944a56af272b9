import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { ConnectionBar } from "../../app/ConnectionBar.tsx";
import { askAndSignOut } from "../../app/signOut.ts";
import { useMe } from "../../app/useMe.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ChevronRightIcon } from "../../ui/icons.tsx";
import { AccountsSection } from "./AccountsSection.tsx";
import { PasswordSection } from "./PasswordSection.tsx";
import { ProfileSection } from "./ProfileSection.tsx";
import { ThemeSection } from "./ThemeSection.tsx";

/** The person's own account; for operators also the accounts of the server. */
export function AccountScreen() {
  const { username, displayName, operator } = useMe();
  useEffect(() => {
    document.title = "Your account · Content workspace";
  }, []);
  return (
    <div className="flex h-full flex-col">
      <ConnectionBar />
      <header className="flex h-12 shrink-0 items-center border-b border-line px-2 md:px-4">
        <Link to="/" className={buttonClass("quiet")}>
          <ChevronRightIcon className="rotate-180" /> Back to the workspace
        </Link>
      </header>
      <main className="min-h-0 grow overflow-auto">
        <div className="mx-auto max-w-2xl px-4 py-8">
          <div className="mb-8 flex flex-wrap items-center gap-3">
            <Avatar username={username} name={displayName} />
            <div className="min-w-0 grow">
              <h1 className="text-xl font-semibold">Your account</h1>
              <p className="text-sm text-muted">
                {username}
                {operator && " · operator of this server"}
              </p>
            </div>
            <Button onClick={() => void askAndSignOut()}>Sign out</Button>
          </div>
          <div>
            <ProfileSection />
            <PasswordSection />
            <ThemeSection />
            {operator && <AccountsSection />}
          </div>
        </div>
      </main>
    </div>
  );
}
