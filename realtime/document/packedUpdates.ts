/**
 * PackedUpdates keeps updates one after another in one piece of memory.
 *
 * An update of one keystroke has about 20 bytes. As an array of its own it takes 110 bytes more, and it keeps the 8 KiB of
 * memory that its frame shares with the frames of other sockets.
 */
export class PackedUpdates {
  private bytes = new Uint8Array(0);
  /** Offset behind the last byte of each update. */
  private readonly ends: number[] = [];

  get count(): number {
    return this.ends.length;
  }

  /** Adds a copy of the update. */
  add(update: Uint8Array): void {
    const start = this.ends.at(-1) ?? 0;
    const end = start + update.length;
    if (end > this.bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes.set(update, start);
    this.ends.push(end);
  }

  /** The updates in the order in which they were added. */
  list(): readonly Uint8Array[] {
    return this.ends.map((end, at) => this.bytes.subarray(this.ends[at - 1] ?? 0, end));
  }
}
