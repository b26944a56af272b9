/** Rises when rows are laid out in a way that an older server cannot read; a server refuses a newer store. */
export const storeVersion = 1;
