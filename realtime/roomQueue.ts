/**
 * The order in which things happen in a room: changes gather into batches, one batch is written at a time, edits
 * and looks keep their place among them.
 *
 * A look runs when everything received before it is written and nothing unwritten can be seen. An edit changes
 * what is seen first and is written afterwards, so nothing looks in between. What a change or an edit is, and how
 * it is written, the room knows.
 */

export interface QueueHooks<Change, Edit, Begun> {
  /** Work that goes before everything else, if there is any. */
  readonly first: () => Promise<void> | undefined;
  /** Runs an edit; undefined when there is nothing to write, a promise when something has to be put right first. */
  readonly begin: (edit: Edit) => Begun | Promise<void> | undefined;
  /** What gathered waits for the next batch: this edit is written by itself. */
  readonly isAlone: (begun: Begun) => boolean;
  /** Writes a batch, and with it the edit that was begun. */
  readonly write: (batch: readonly Change[], begun: Begun | undefined) => Promise<void>;
  /** Some work failed: nobody knows where things stand, and nothing more is done. */
  readonly failed: (error: unknown) => void;
  /** Nothing is left to do. */
  readonly rested: () => void;
}

interface Look {
  readonly run: () => void;
  readonly abandon: (() => void) | undefined;
}

type Operation<Edit> = { readonly after: number } & ({ readonly look: Look } | { readonly edit: Edit });

export class RoomQueue<Change, Edit, Begun extends object> {
  private readonly hooks: QueueHooks<Change, Edit, Begun>;
  private gathering: Change[] = [];
  /** Number of the batch that gathers, and of the last one written. */
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

  /** All that was received is written, nothing unwritten can be seen, and nothing has to be done before a look. */
  get isSettled(): boolean {
    return !this.isBusy && !this.isScheduled && this.gathering.length === 0 && this.operations.length === 0;
  }

  /** An edit stands in what is seen and is not written yet. */
  get showsUnwritten(): boolean {
    return this.hasBegunEdit;
  }

  get hasGathered(): boolean {
    return this.gathering.length > 0;
  }

  push(change: Change): void {
    this.gathering.push(change);
    this.schedule();
  }

  edit(edit: Edit): void {
    this.operations.push({ after: this.newest, edit });
    this.schedule();
  }

  /** At once when things are settled. `abandon` is called instead when the queue ends first. */
  look(run: () => void, abandon?: () => void): void {
    if (this.isEnded) abandon?.();
    else if (this.isSettled) run();
    else this.operations.push({ after: this.newest, look: { run, abandon } });
  }

  /** Everything that comes in one turn of the event loop becomes one batch. */
  schedule(): void {
    if (this.isBusy || this.isScheduled || this.isEnded) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.pump();
    });
  }

  /** Gives back what was not begun, in order. */
  end(giveBackChange: (change: Change) => void, giveBackEdit: (edit: Edit) => void): void {
    this.isEnded = true;
    for (const change of this.gathering.splice(0)) giveBackChange(change);
    for (const operation of this.operations.splice(0)) {
      if ("edit" in operation) giveBackEdit(operation.edit);
      else operation.look.abandon?.();
    }
  }

  /** The batch that must be written before what was received up to now is. */
  private get newest(): number {
    return this.gathering.length > 0 ? this.gatheringNumber : this.gatheringNumber - 1;
  }

  /** A bug in one room ends that room. */
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
      if ("look" in next) {
        next.look.run();
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
    else this.hooks.rested();
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
