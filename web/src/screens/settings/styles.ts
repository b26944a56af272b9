/** The style profiles of a workspace: texts in its settings, which steps of runs read when they write. */
import type { Workspace } from "../../../../api/schema/workspace.ts";

export interface Style {
  /** What runs and content projects name: `styleProfileId`. */
  readonly name: string;
  readonly text: string;
}

/** A profile is a text, or an object with the text in `content`. Other values are no profiles. */
function textOf(profile: unknown): string | undefined {
  if (typeof profile === "string") return profile;
  if (typeof profile !== "object" || profile === null || !("content" in profile)) return undefined;
  return typeof profile.content === "string" ? profile.content : undefined;
}

export function stylesOf(settings: Workspace["settings"]): readonly Style[] {
  const profiles = settings?.["styleProfiles"];
  if (typeof profiles !== "object" || profiles === null || Array.isArray(profiles)) return [];
  return Object.entries(profiles)
    .flatMap(([name, profile]) => {
      const text = textOf(profile);
      return text === undefined ? [] : [{ name, text }];
    })
    .sort((one, other) => one.name.localeCompare(other.name));
}
