/** This module merges free-form settings according to RFC 7396 and enforces the limits of free-form objects. */
import type { Limits } from "../../../../api/limits.ts";
import { AppError } from "../../../../api/schema/error.ts";
import type { Json } from "../../../platform/storage/port.ts";

export type Settings = { readonly [key: string]: Json };

function isObject(value: Json | undefined): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `Object.fromEntries` creates an own property for every name, including `__proto__`. */
function mergeObjects(target: Settings, patch: Settings): Settings {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else if (isObject(value)) {
      const old = merged.get(key);
      merged.set(key, mergeObjects(isObject(old) ? old : {}, value));
    } else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

/** Applies a JSON Merge Patch: null removes a key, objects merge, every other value replaces. */
export function mergeSettings(target: Settings | undefined, patch: Settings): Settings {
  return mergeObjects(target ?? {}, patch);
}

function depthOf(value: Json): number {
  if (typeof value !== "object" || value === null) return 0;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner as Json));
  return deepest + 1;
}

/** Throws `validation_failed` for settings larger than `body.freeForm` or deeper than `body.freeFormDepth`. */
export function checkSettings(settings: Settings, limits: Limits): void {
  const bytes = Buffer.byteLength(JSON.stringify(settings));
  const depth = depthOf(settings);
  const [maxBytes, maxDepth] = [limits["body.freeForm"], limits["body.freeFormDepth"]];
  if (bytes <= maxBytes && depth <= maxDepth) return;
  const message =
    bytes > maxBytes
      ? `would have ${bytes} bytes; at most ${maxBytes} are allowed`
      : `would be ${depth} levels deep; at most ${maxDepth} are allowed`;
  throw new AppError("validation_failed", `The settings ${message}.`, {
    errors: [{ pointer: "/settings", code: "too_big", message }],
  });
}
