/** What an API key may do and how it stands, in words. */
import type { ApiKey, ApiKeyState } from "../../../../api/schema/apiKey.ts";
import type { Scope } from "../../../../api/scopes.ts";
import type { Tone } from "../../ui/badge.tsx";

/** The choices of the field Access. Other combinations of scopes are created through the API. */
export type Access = "full" | "conversions";

interface AccessText {
  readonly label: string;
  readonly hint: string;
  /** Undefined: everything that the account may do. */
  readonly scopes: readonly Scope[] | undefined;
}

export const accesses: Readonly<Record<Access, AccessText>> = {
  full: { label: "Full access", hint: "Everything that you may do yourself, through the API.", scopes: undefined },
  conversions: {
    label: "Conversions only",
    hint: "Converts documents, and cannot read or change anything else (conversions:execute).",
    scopes: ["conversions:execute"],
  },
};

/** Text such as `Full access`, or the names of the scopes. */
export function accessOf({ scopes }: Pick<ApiKey, "scopes">): string {
  const known = Object.values(accesses).find((access) => access.scopes?.join() === scopes?.join());
  return known?.label ?? scopes?.join(", ") ?? accesses.full.label;
}

export const keyStates: Readonly<Record<ApiKeyState, { readonly name: string; readonly tone: Tone }>> = {
  active: { name: "Active", tone: "ok" },
  revoked: { name: "Revoked", tone: "danger" },
  expired: { name: "Expired", tone: "warn" },
};

const dayMs = 24 * 3600 * 1000;

/** How long a new key lasts. */
export const lifetimes = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "A year" },
  { value: "date", label: "Until a date…" },
  { value: "never", label: "No expiry" },
] as const;

export type Lifetime = (typeof lifetimes)[number]["value"];

/** `date` is a day such as `2027-01-31`: the key expires when that day ends here. Undefined: it never expires. */
export function expiryOf(lifetime: Lifetime, date: string, nowMs: number): string | undefined {
  if (lifetime === "never") return undefined;
  if (lifetime === "date") return new Date(`${date}T23:59:59.999`).toISOString();
  return new Date(nowMs + Number(lifetime) * dayMs).toISOString();
}

/** The first day that a key can expire at the end of, in the time zone of the browser: `2027-01-31`. */
export function today(nowMs: number): string {
  const now = new Date(nowMs);
  const digits = (value: number) => String(value).padStart(2, "0");
  return `${now.getFullYear()}-${digits(now.getMonth() + 1)}-${digits(now.getDate())}`;
}
