/**
 * SnapshotScheduler decides when a snapshot (the whole state) of a document is saved: after many updates, after many bytes,
 * and when a document that was changed becomes quiet. Only one snapshot is saved at a time.
 *
 * The cost of a load grows with the number of updates after the snapshot, whatever the number of batches.
 */

/** A snapshot is due after this many updates, or after `maxBytes` or a quarter of the document, whichever is more. */
const maxUpdates = 2000;
const maxBytes = 1024 * 1024;
/** A quiet document with fewer updates is not saved: replaying them costs less than a snapshot at every pause in typing. */
const minQuietUpdates = 64;

/** Number and size of the updates in the log after the last snapshot. */
export interface Unsaved {
  readonly updates: number;
  readonly bytes: number;
}

export class SnapshotScheduler {
  private unsaved: Unsaved;
  private saving: Promise<void> | undefined;
  private readonly saveSnapshot: () => Promise<void>;
  private readonly onSaved: () => void;

  constructor(unsaved: Unsaved, saveSnapshot: () => Promise<void>, onSaved: () => void) {
    this.unsaved = unsaved;
    this.saveSnapshot = saveSnapshot;
    this.onSaved = onSaved;
  }

  /** True when a quiet document should be saved. */
  get isWorthSaving(): boolean {
    return this.unsaved.updates >= minQuietUpdates || this.unsaved.bytes >= maxBytes;
  }

  get isSaving(): boolean {
    return this.saving !== undefined;
  }

  /** Counts the updates of a batch that became durable, and saves a snapshot when it is due. Both sizes are in bytes. */
  grow(updates: number, bytes: number, documentBytes: number): void {
    this.unsaved = { updates: this.unsaved.updates + updates, bytes: this.unsaved.bytes + bytes };
    if (this.unsaved.updates >= maxUpdates || this.unsaved.bytes >= Math.max(maxBytes, documentBytes / 4)) void this.save();
  }

  save(): Promise<void> {
    if (this.saving !== undefined) return this.saving;
    this.unsaved = { updates: 0, bytes: 0 };
    this.saving = this.saveSnapshot().finally(() => {
      this.saving = undefined;
      this.onSaved();
    });
    return this.saving;
  }
}
