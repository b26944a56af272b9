import { useEffect, useState } from "react";
import { SearchIcon } from "../../ui/icons.tsx";

export interface ArticleSearch {
  readonly folder?: string | undefined;
  readonly q?: string | undefined;
  readonly sort?: "updatedAt" | "createdAt" | "title" | undefined;
  readonly state?: "public" | "private" | "trash" | undefined;
  readonly author?: string | undefined;
}

interface ArticleFiltersProps {
  readonly search: ArticleSearch;
  readonly onChange: (search: ArticleSearch) => void;
}

const states = [
  ["", "All"],
  ["public", "Public"],
  ["private", "Not public"],
  ["trash", "Trash"],
] as const;
const sorts = [
  ["updatedAt", "Last committed"],
  ["createdAt", "Newest"],
  ["title", "Title"],
] as const;

const selectClass = "h-8 rounded-md border border-line bg-bg px-2 text-sm text-muted hover:border-line-strong";
/** The address changes when nothing was typed for this long. */
const settleMs = 250;

export function ArticleFilters({ search, onChange }: ArticleFiltersProps) {
  const [typed, setTyped] = useState(search.q ?? "");
  useEffect(() => setTyped(search.q ?? ""), [search.q]);
  useEffect(() => {
    const q = typed.trim() === "" ? undefined : typed.trim();
    if (q === search.q) return;
    const timer = setTimeout(() => onChange({ ...search, q }), settleMs);
    return () => clearTimeout(timer);
  }, [typed, search, onChange]);
  return (
    <>
      <div className="relative min-w-40 grow sm:max-w-72">
        <SearchIcon className="pointer-events-none absolute top-2 left-2 text-faint" />
        <input
          type="search"
          aria-label="Find by title"
          placeholder="Find by title"
          value={typed}
          maxLength={200}
          onChange={(event) => setTyped(event.target.value)}
          className="h-8 w-full rounded-md border border-line bg-bg pr-2 pl-8 text-sm placeholder:text-faint hover:border-line-strong"
        />
      </div>
      <select
        aria-label="Show"
        className={selectClass}
        value={search.state ?? ""}
        onChange={({ target }) => {
          const state = states.find(([value]) => value === target.value)?.[0];
          onChange({ ...search, state: state === "" ? undefined : state });
        }}
      >
        {states.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <select
        aria-label="Sort by"
        className={selectClass}
        value={search.sort ?? "updatedAt"}
        onChange={({ target }) => onChange({ ...search, sort: sorts.find(([value]) => value === target.value)?.[0] })}
      >
        {sorts.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </>
  );
}
