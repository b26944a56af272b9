/**
 * SnapshotScheduler decides when a snapshot (the whole state) of a document is saved. Only one snapshot is saved at a
 * time, and a larger document needs more new bytes before the next one.
 */

/** A snapshot is due after this many batches, or after `maxBytes` or a quarter of the document, whichever is more. */
const maxBatches = 500;
const maxBytes = 1024 * 1024;

export class SnapshotScheduler {
  /** Number and size of the batches in the log after the last snapshot. */
  private behind: { batches: number; bytes: number };
  private saving: Promise<void> | undefined;
  private readonly saveSnapshot: () => Promise<void>;
  private readonly onSaved: () => void;

  constructor(behind: { batches: number; bytes: number }, saveSnapshot: () => Promise<void>, onSaved: () => void) {
    this.behind = behind;
    this.saveSnapshot = saveSnapshot;
    this.onSaved = onSaved;
  }

  get isBehind(): boolean {
    return this.behind.batches > 0;
  }

  get isSaving(): boolean {
    return this.saving !== undefined;
  }

  /** Counts a batch that became durable, and saves a snapshot when it is due. Both sizes are in bytes. */
  grow(bytes: number, documentBytes: number): void {
    this.behind = { batches: this.behind.batches + 1, bytes: this.behind.bytes + bytes };
    if (this.behind.batches >= maxBatches || this.behind.bytes >= Math.max(maxBytes, documentBytes / 4)) void this.save();
  }

  save(): Promise<void> {
    if (this.saving !== undefined) return this.saving;
    this.behind = { batches: 0, bytes: 0 };
    this.saving = this.saveSnapshot().finally(() => {
      this.saving = undefined;
      this.onSaved();
    });
    return this.saving;
  }
}
