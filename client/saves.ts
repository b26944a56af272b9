/**
 * Saves counts the local changes that are not known to be on the server's disk.
 *
 * The server answers a question (sync step 1) only when everything that it received before is stored. So an answer settles
 * exactly the changes that were made before its question, and no others.
 */

export interface Saves {
  readonly unsaved: number;
  /** Time of the oldest unsaved change, in Unix milliseconds. */
  readonly sinceMs?: number;
  /** Number of the oldest unsaved changes that the open question is about. */
  readonly asked?: number;
  /** Time of the first change after the open question. */
  readonly laterMs?: number;
}

export const nothingUnsaved: Saves = { unsaved: 0 };

export function noteChange({ unsaved, sinceMs, asked, laterMs }: Saves, nowMs: number): Saves {
  if (sinceMs === undefined) return { unsaved: 1, sinceMs: nowMs };
  if (asked === undefined) return { unsaved: unsaved + 1, sinceMs };
  return { unsaved: unsaved + 1, sinceMs, asked, laterMs: laterMs ?? nowMs };
}

export function noteQuestion({ unsaved, sinceMs }: Saves): Saves {
  return sinceMs === undefined ? nothingUnsaved : { unsaved, sinceMs, asked: unsaved };
}

export function noteAnswer(saves: Saves): Saves {
  const { unsaved, asked = 0, sinceMs, laterMs } = saves;
  if (asked === unsaved || sinceMs === undefined) return nothingUnsaved;
  return { unsaved: unsaved - asked, sinceMs: laterMs ?? sinceMs };
}

/** The connection ended, so the open question gets no answer. */
export function dropQuestion({ unsaved, sinceMs }: Saves): Saves {
  return sinceMs === undefined ? nothingUnsaved : { unsaved, sinceMs };
}
