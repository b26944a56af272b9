/**
 * RoomQueue orders the work of a room: it gathers changes into batches and writes one batch at a time. Edits and reads of
 * the document keep their place among the changes.
 *
 * A read runs when everything received before it is written and the document shows nothing unwritten. An edit changes the
 * document first and is written afterwards, so no read runs in between.
 * The queue must not know what a change or an edit is, or how it is written. The room provides this in `QueueHooks`.
 */

export interface QueueHooks<Change, Edit, Begun> {
  /** Starts work that must run before everything else. Returns undefined when there is none. */
  readonly first: () => Promise<void> | undefined;
  /** Runs an edit. Returns undefined when nothing has to be written, or a promise when the document must be reverted first. */
  readonly begin: (edit: Edit) => Begun | Promise<void> | undefined;
  /** True when the edit must be written without the gathered changes. They wait for the next batch. */
  readonly isAlone: (begun: Begun) => boolean;
  /** Writes a batch, together with the begun edit if there is one. */
  readonly write: (batch: readonly Change[], begun: Begun | undefined) => Promise<void>;
  /** Called when some work failed. The stored state is then unknown, and the queue may have stopped. The room must end. */
  readonly failed: (error: unknown) => void;
  /** Called when the queue is empty. */
  readonly emptied: () => void;
}

interface Read {
  readonly run: () => void;
  readonly abandon: (() => void) | undefined;
}

type Operation<Edit> = { readonly after: number } & ({ readonly read: Read } | { readonly edit: Edit });

export class RoomQueue<Change, Edit, Begun extends object> {
  private readonly hooks: QueueHooks<Change, Edit, Begun>;
  private gathering: Change[] = [];
  /** Number of the batch that is being gathered. `writtenNumber` is that of the last batch written. */
  private gatheringNumber = 1;
  private writtenNumber = 0;
  private operations: Operation<Edit>[] = [];
  private isBusy = false;
  private hasBegunEdit = false;
  private isScheduled = false;
  private isEnded = false;

  constructor(hooks: QueueHooks<Change, Edit, Begun>) {
    this.hooks = hooks;
  }

  /** True when everything received is written and no work is queued or scheduled. A read can then run at once. */
  get isSettled(): boolean {
    return !this.isBusy && !this.isScheduled && this.gathering.length === 0 && this.operations.length === 0;
  }

  /** True while an edit has changed the document and is not written yet. */
  get showsUnwritten(): boolean {
    return this.hasBegunEdit;
  }

  push(change: Change): void {
    this.gathering.push(change);
    this.schedule();
  }

  edit(edit: Edit): void {
    this.operations.push({ after: this.newest, edit });
    this.schedule();
  }

  /** Calls `run` in its turn, or at once when the queue is settled. If the queue ends first, `abandon` is called instead. */
  read(run: () => void, abandon?: () => void): void {
    if (this.isEnded) abandon?.();
    else if (this.isSettled) run();
    else this.operations.push({ after: this.newest, read: { run, abandon } });
  }

  /** Schedules the next step at the end of this event loop turn, so that all changes of one turn form one batch. */
  schedule(): void {
    if (this.isBusy || this.isScheduled || this.isEnded) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.pump();
    });
  }

  /** Ends the queue and passes all work that has not begun to the callbacks, in order. */
  end(rejectChange: (change: Change) => void, rejectEdit: (edit: Edit) => void): void {
    this.isEnded = true;
    for (const change of this.gathering.splice(0)) rejectChange(change);
    for (const operation of this.operations.splice(0)) {
      if ("edit" in operation) rejectEdit(operation.edit);
      else operation.read.abandon?.();
    }
  }

  /** Number of the batch after which everything received up to now is written. */
  private get newest(): number {
    return this.gathering.length > 0 ? this.gatheringNumber : this.gatheringNumber - 1;
  }

  /** Runs one step. An exception (a bug) ends this room only, not the process. */
  private pump(): void {
    try {
      this.step();
    } catch (error) {
      this.hooks.failed(error);
    }
  }

  private step(): void {
    if (this.isBusy || this.isEnded) return;
    const first = this.hooks.first();
    if (first !== undefined) {
      this.work(first);
      return;
    }
    for (;;) {
      const [next] = this.operations;
      if (next === undefined || next.after > this.writtenNumber) break;
      this.operations.shift();
      if ("read" in next) {
        next.read.run();
        if (this.isEnded) return;
        continue;
      }
      const begun = this.hooks.begin(next.edit);
      if (begun === undefined) continue;
      this.hasBegunEdit = true;
      this.work(begun instanceof Promise ? begun : this.write(begun));
      return;
    }
    if (this.gathering.length > 0) this.work(this.write(undefined));
    else this.hooks.emptied();
  }

  private async write(begun: Begun | undefined): Promise<void> {
    if (begun !== undefined && this.hooks.isAlone(begun)) {
      await this.hooks.write([], begun);
      return;
    }
    const batch = this.gathering;
    const number = this.gatheringNumber;
    this.gathering = [];
    this.gatheringNumber += 1;
    await this.hooks.write(batch, begun);
    this.writtenNumber = number;
  }

  private work(task: Promise<void>): void {
    this.isBusy = true;
    task.then(
      () => {
        this.isBusy = false;
        this.hasBegunEdit = false;
        this.pump();
      },
      (error: unknown) => this.hooks.failed(error),
    );
  }
}
