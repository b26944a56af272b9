/**
 * Version of the layout of rows in Redis. It is raised when an older server could not read the rows; a server refuses a
 * store with a higher version. The embedded store has versions of its own (`lmdb/meta.ts`).
 */
export const storeVersion = 1;
