/** The settings of a public page as a form has them. */
import type { PublicLink } from "../../../../../api/schema/publicLink.ts";
import type { LinkSettings } from "./usePublicLink.ts";

export interface SettingsDraft {
  readonly slug: string;
  /** Value of a field of the type `datetime-local`; empty for none. */
  readonly expiresAt: string;
  readonly indexable: boolean;
  readonly gate: PublicLink["gate"];
}

/** Unix seconds as a field shows them: the time of the reader's clock, to the minute. */
export function toLocalTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export const newSettings: SettingsDraft = { slug: "", expiresAt: "", indexable: false, gate: "off" };

export function toDraft({ slug, expiresAt, indexable, gate }: PublicLink): SettingsDraft {
  return { slug, indexable, gate, expiresAt: expiresAt === undefined ? "" : toLocalTime(expiresAt) };
}

/** Only the settings that differ, so that the changes of others are kept. */
export function toChanges(draft: SettingsDraft, before: SettingsDraft): LinkSettings {
  const slug = draft.slug.trim();
  const expiresAt = draft.expiresAt === "" ? null : new Date(draft.expiresAt).getTime() / 1000;
  return {
    ...(slug === before.slug ? {} : { slug }),
    ...(draft.expiresAt === before.expiresAt ? {} : { expiresAt }),
    ...(draft.indexable === before.indexable ? {} : { indexable: draft.indexable }),
    ...(draft.gate === before.gate ? {} : { gate: draft.gate }),
  };
}
