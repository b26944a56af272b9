/** Defines what readers return and writers receive: a syntax tree (mdast), and the losses that are already known. */
import type { Root } from "mdast";
import type { Construct } from "./constructs.ts";

/** One construct of the source that is not in the output. */
export interface Loss {
  readonly construct: Construct;
  /** Line of the source, from 1. Absent for sources without lines (DOCX, PDF, JSON). */
  readonly line?: number | undefined;
}

export interface ParsedDocument {
  readonly tree: Root;
  /** Constructs of the source that the tree does not have. */
  readonly losses: readonly Loss[];
}

export interface WrittenDocument {
  readonly bytes: Uint8Array;
  /** Constructs of the tree that the writer could not write and that reading the output back does not show. */
  readonly losses: readonly Loss[];
}

/** Line of a node in the source, if the source has lines. */
export function lineOf(node: { readonly position?: { readonly start: { readonly line: number } } | undefined }): number | undefined {
  return node.position?.start.line;
}
