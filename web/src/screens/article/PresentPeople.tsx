import { useEffect, useState } from "react";
import type { Awareness } from "y-protocols/awareness";
import { Avatar } from "../../ui/avatar.tsx";

interface Present {
  readonly username: string;
  readonly name: string;
  readonly isAgent: boolean;
}

function toPresent(state: Readonly<Record<string, unknown>>): Present | undefined {
  const user = state.user;
  if (typeof user !== "object" || user === null) return undefined;
  // The server sets these fields (docs/collaboration.md).
  const { username, name, kind } = user as Readonly<Record<string, unknown>>;
  if (typeof username !== "string") return undefined;
  return { username, name: typeof name === "string" && name !== "" ? name : username, isAgent: kind === "agent" };
}

const mostShown = 5;

/** Who else has the article open. A person with several tabs is shown once. */
export function PresentPeople({ awareness }: { readonly awareness: Awareness }) {
  const [people, setPeople] = useState<readonly Present[]>([]);
  useEffect(() => {
    function read(): void {
      const others = [...awareness.getStates()].filter(([clientId]) => clientId !== awareness.clientID);
      const present = others.map(([, state]) => toPresent(state)).filter((person) => person !== undefined);
      setPeople([...new Map(present.map((person) => [`${person.username} ${person.isAgent}`, person])).values()]);
    }
    read();
    awareness.on("change", read);
    return () => awareness.off("change", read);
  }, [awareness]);
  if (people.length === 0) return null;
  return (
    <ul aria-label="Also here" className="flex -space-x-1.5">
      {people.slice(0, mostShown).map((person) => (
        <li key={`${person.username} ${person.isAgent}`} className="rounded-full ring-2 ring-(--bg)">
          <Avatar {...person} />
        </li>
      ))}
      {people.length > mostShown && <li className="pl-2.5 text-xs text-muted">+{people.length - mostShown}</li>}
    </ul>
  );
}
