/** The style profiles of a workspace: texts in its settings, which steps of runs read when they write. */
import type { Workspace } from "../../../../api/schema/workspace.ts";

type Settings = Workspace["settings"];

export interface Style {
  /** What runs and content projects name: `styleProfileId`. */
  readonly name: string;
  readonly text: string;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A profile is a text, or an object with the text in `content`. Other values are no profiles. */
function textOf(profile: unknown): string | undefined {
  if (typeof profile === "string") return profile;
  const content = isObject(profile) ? profile.content : undefined;
  return typeof content === "string" ? content : undefined;
}

function profilesOf(settings: Settings): readonly (readonly [name: string, profile: unknown])[] {
  const profiles = settings?.styleProfiles;
  return isObject(profiles) ? Object.entries(profiles) : [];
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
  if (profiles.length === 0) return styleProfiles === undefined || isObject(styleProfiles) ? others : { ...others, styleProfiles };
  const unknown = profiles.filter(([, profile]) => textOf(profile) === undefined);
  return unknown.length === 0 ? others : { ...others, styleProfiles: Object.fromEntries(unknown) };
}
