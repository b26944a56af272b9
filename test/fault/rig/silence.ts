/** The ways in which a node stops answering without dying. Each begins at once and lasts until it is ended. */
import type { RigNode } from "./node.ts";

/** The process is paused, or its link to the store stalls, is cut, or is very slow. */
export type Silence = "stopped" | "halfOpen" | "cut" | "slow";

const bytesPerSecond = 20_000;

/** Returns a function that ends the silence. */
export function silence(node: RigNode, kind: Silence): () => void {
  if (kind === "stopped") {
    node.pause();
    return node.resume;
  }
  node.link?.set(kind === "slow" ? { kind, bytesPerSecond } : { kind });
  return () => node.link?.set({ kind: "pass" });
}
