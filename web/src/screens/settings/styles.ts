/** The style profiles of a workspace: texts in its settings, which steps of runs read when they write. */
import type { Workspace } from "../../../../api/schema/workspace.ts";

type Settings = Workspace["settings"];

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

function profilesOf(settings: Settings): readonly (readonly [name: string, profile: unknown])[] {
  const profiles = settings?.["styleProfiles"];
  return typeof profiles !== "object" || profiles === null || Array.isArray(profiles) ? [] : Object.entries(profiles);
}

export function stylesOf(settings: Settings): readonly Style[] {
  return profilesOf(settings)
    .flatMap(([name, profile]) => {
      const text = textOf(profile);
      return text === undefined ? [] : [{ name, text }];
    })
    .sort((one, other) => one.name.localeCompare(other.name));
}

/** The settings that are no style profiles. */
export function othersOf(settings: Settings): Readonly<Record<string, unknown>> {
  const { styleProfiles, ...others } = settings ?? {};
  const profiles = profilesOf(settings);
  const unknown = profiles.filter(([, profile]) => textOf(profile) === undefined);
  if (styleProfiles === undefined || (profiles.length > 0 && unknown.length === 0)) return others;
  return { ...others, styleProfiles: unknown.length === 0 ? styleProfiles : Object.fromEntries(unknown) };
}
