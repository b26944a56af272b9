/**
 * Version of the store layout. It is raised when an older server could not read the rows; a server refuses a store with
 * a higher version.
 */
export const storeVersion = 1;
