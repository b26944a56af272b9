/** Decides when a document's whole state is kept anew: never twice at once, and seldom enough for a large document. */

/** So much has come since the last state, or a quarter of the document if that is more. */
const maxBatches = 500;
const maxBytes = 1024 * 1024;

export class StateKeeper {
  private behind: { batches: number; bytes: number };
  private saving: Promise<void> | undefined;
  private readonly keep: () => Promise<void>;
  private readonly onKept: () => void;

  constructor(behind: { batches: number; bytes: number }, keep: () => Promise<void>, onKept: () => void) {
    this.behind = behind;
    this.keep = keep;
    this.onKept = onKept;
  }

  get isBehind(): boolean {
    return this.behind.batches > 0;
  }

  get isSaving(): boolean {
    return this.saving !== undefined;
  }

  /** A batch became durable. */
  grow(bytes: number, documentBytes: number): void {
    this.behind = { batches: this.behind.batches + 1, bytes: this.behind.bytes + bytes };
    if (this.behind.batches >= maxBatches || this.behind.bytes >= Math.max(maxBytes, documentBytes / 4)) void this.save();
  }

  save(): Promise<void> {
    if (this.saving !== undefined) return this.saving;
    this.behind = { batches: 0, bytes: 0 };
    this.saving = this.keep().finally(() => {
      this.saving = undefined;
      this.onKept();
    });
    return this.saving;
  }
}
