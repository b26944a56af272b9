/** The sign of a person or a program: initials on a colour that follows from the name. */
import { AgentIcon } from "./icons.tsx";

const colours = 8;

/** A number from 1 to 8, the same for a name everywhere: the tokens `--author-1` to `--author-8`. */
export function colourOf(username: string): number {
  let hash = 7;
  for (const character of username) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 4_294_967_291;
  return (hash % colours) + 1;
}

function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter((word) => word !== "");
  return [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? "")][0]?.toLocaleUpperCase() ?? "").join("");
}

interface AvatarProps {
  readonly username: string;
  readonly name?: string | undefined;
  readonly isAgent?: boolean;
  readonly size?: "small" | "normal";
}

export function Avatar({ username, name = username, isAgent = false, size = "normal" }: AvatarProps) {
  const box = size === "small" ? "size-5 text-[0.5625rem]" : "size-6 text-[0.625rem]";
  return (
    <span
      role="img"
      aria-label={isAgent ? `${name} (agent)` : name}
      title={isAgent ? `${name} (agent)` : name}
      className={`inline-flex shrink-0 items-center justify-center font-semibold text-[#fff] ${isAgent ? "rounded-md" : "rounded-full"} ${box}`}
      style={{ background: `var(--author-${colourOf(username)})` }}
    >
      {isAgent ? <AgentIcon className="size-3.5" /> : initialsOf(name)}
    </span>
  );
}
