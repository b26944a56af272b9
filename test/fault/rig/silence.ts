/** The ways in which a node falls silent without being dead; each begins at once and lasts until it is ended. */
import type { RigNode } from "./node.ts";

/** Its process is stopped, or its link to the store is dead, cut, or so slow that little gets through. */
export type Silence = "stopped" | "halfOpen" | "cut" | "slow";

const bytesPerSecond = 20_000;

/** Returns what ends it. */
export function silence(node: RigNode, kind: Silence): () => void {
  if (kind === "stopped") {
    node.pause();
    return node.resume;
  }
  node.link?.set(kind === "slow" ? { kind, bytesPerSecond } : { kind });
  return () => node.link?.set({ kind: "pass" });
}
