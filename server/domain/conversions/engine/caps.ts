/** ConversionCaps are the limits of one conversion, from the `LIMITS` setting. Sizes are in bytes. */
export interface ConversionCaps {
  /** Maximum number of nodes of the syntax tree, and its maximum depth. */
  readonly nodes: number;
  readonly depth: number;
  readonly outputBytes: number;
  readonly archive: ArchiveCaps;
}

/** Limits of a ZIP archive. Sizes are those of the inflated bytes, not those that the archive states. */
export interface ArchiveCaps {
  readonly entries: number;
  readonly totalBytes: number;
  readonly entryBytes: number;
  /** Inflated bytes for each compressed byte of one entry. */
  readonly ratio: number;
}
