/** Reads what a process has used from /proc: processor time, memory, and wake-ups. Linux only. */
import { readdirSync, readFileSync } from "node:fs";

/** Runs `read` for each thread of the process. A thread that ends meanwhile is left out. */
function readThreads(pid: number, read: (directory: string) => number): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      values.set(thread, read(`/proc/${pid}/task/${thread}`));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" && (error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
  return values;
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

function statusField(text: string, field: string): number {
  const found = new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1];
  if (found === undefined) throw new Error(`no ${field} in /proc status`);
  return Number(found);
}

const ticksPerSecond = 100;
/** Two counters of one process differ by less than this while all of its threads live. */
const tickRoundingSeconds = 0.02;

/** The last reading of a process. */
interface Reading {
  /** When the process started. Another process may get its id later. */
  readonly startedAt: string | undefined;
  /** Seconds that each living thread had used. */
  readonly threads: ReadonlyMap<string, number>;
  /** Seconds of threads that have ended. */
  readonly endedSeconds: number;
}

const readings = new Map<number, Reading>();

/**
 * Processor seconds that the processes have used. The scheduler's nanosecond counters exist only for living threads. A
 * thread that has ended counts with its last reading. Time that no reading saw comes from the ticks of the process, once:
 * the differences between later readings are exact again.
 */
export function cpuSeconds(pids: readonly number[]): number {
  return sum(pids.map(cpuSecondsOf));
}

function cpuSecondsOf(pid: number): number {
  // The name of the process, in parentheses, may contain spaces. Fields 14, 15 and 22 are user time, system time and start.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const ofProcess = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  const startedAt = fields[19];
  const threads = readThreads(pid, (directory) => Number(readFileSync(`${directory}/schedstat`, "utf8").split(" ")[0]) / 1e9);
  const before = readings.get(pid);
  let endedSeconds = 0;
  if (before !== undefined && before.startedAt === startedAt) {
    endedSeconds = before.endedSeconds;
    // A thread whose counter went down is a new thread with the id of one that has ended.
    for (const [thread, seconds] of before.threads) if ((threads.get(thread) ?? 0) < seconds) endedSeconds += seconds;
  }
  const unseenSeconds = ofProcess - sum(threads.values()) - endedSeconds;
  if (unseenSeconds > tickRoundingSeconds) endedSeconds += unseenSeconds;
  readings.set(pid, { startedAt, threads, endedSeconds });
  return sum(threads.values()) + endedSeconds;
}

/** Memory in bytes. */
export interface MemoryUse {
  /** Both of the following. */
  readonly resident: number;
  /** Heaps, stacks and buffers: the kernel cannot take it back. */
  readonly anonymous: number;
  /** Pages of mapped files: programs, libraries and the file of an embedded store. The kernel drops them when memory is short. */
  readonly mapped: number;
}

export function memoryUse(pids: readonly number[]): MemoryUse {
  let [anonymous, mapped] = [0, 0];
  for (const pid of pids) {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    anonymous += (statusField(status, "RssAnon") + statusField(status, "RssShmem")) * 1024;
    mapped += statusField(status, "RssFile") * 1024;
  }
  return { resident: anonymous + mapped, anonymous, mapped };
}

/** Resident memory of the processes, in bytes. */
export function residentBytes(pids: readonly number[]): number {
  return memoryUse(pids).resident;
}

/** How often threads of the processes have given up the processor to wait: once for each wake-up. */
export function wakeUps(pids: readonly number[]): number {
  const ofThread = (directory: string) => statusField(readFileSync(`${directory}/status`, "utf8"), "voluntary_ctxt_switches");
  return sum(pids.flatMap((pid) => [...readThreads(pid, ofThread).values()]));
}
