/** LinkSettings reads the settings of a request: all of them for a new publication, the changed ones for a link. */
import type { z } from "zod";
import type { PublicLinkRequest } from "../../../api/schema/publicLink.ts";
import type { LinkSettings, PublicLinkContext } from "../../../machines/publicLink.ts";
import { refuseField } from "../call/refuseField.ts";

export type LinkRequest = z.output<typeof PublicLinkRequest>;

function toMs(expiresAt: number | null | undefined): number | undefined {
  return typeof expiresAt === "number" ? Math.round(expiresAt * 1000) : undefined;
}

/** Throws `validation_failed` if the page would expire at once. */
export function requireFuture({ expiresAt }: LinkRequest, nowMs: number): void {
  const atMs = toMs(expiresAt);
  if (atMs !== undefined && atMs <= nowMs) throw refuseField("expiresAt", "must be in the future", "too_small");
}

export function toNewSettings({ indexable = false, gate = "off", expiresAt }: LinkRequest) {
  return { indexable, gate, expiresAtMs: toMs(expiresAt) };
}

/** Returns the settings that differ from those of the link. */
export function toChangedSettings({ slug, indexable, gate, expiresAt }: LinkRequest, link: PublicLinkContext): LinkSettings {
  const expiresAtMs = toMs(expiresAt);
  return {
    ...(slug === undefined || slug === link.slug ? {} : { slug }),
    ...(indexable === undefined || indexable === link.indexable ? {} : { indexable }),
    ...(gate === undefined || gate === (link.gate ?? "off") ? {} : { gate }),
    ...(expiresAt === undefined || expiresAtMs === link.expiresAtMs ? {} : { expiresAtMs }),
  };
}
