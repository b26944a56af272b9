/** Facts of the store's layout that adapters share. */

/** Rises when rows are laid out in a way that an older server cannot read. */
export const storeVersion = 1;

/** How long a blob may wait, after its put, for the commit that names it. */
export const blobGraceMs = 60 * 60 * 1000;
