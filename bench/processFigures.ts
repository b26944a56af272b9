/** Reads what a process has used from /proc: processor time, memory, and wake-ups. Linux only. */
import { readdirSync, readFileSync } from "node:fs";

/** Runs `read` for each thread of the process. A thread that ends meanwhile is left out. */
function sumOverThreads(pid: number, read: (directory: string) => number): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += read(`/proc/${pid}/task/${thread}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" && (error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
  return sum;
}

function statusField(text: string, field: string): number {
  const found = new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1];
  if (found === undefined) throw new Error(`no ${field} in /proc status`);
  return Number(found);
}

const ticksPerSecond = 100;
/** Two counters of one process differ by less than this while all of its threads live. */
const tickRoundingSeconds = 0.02;

/**
 * Processor seconds that the processes have used. The scheduler's nanosecond counters exist only for living threads, so the
 * time of threads that have ended comes from the ticks of the process.
 */
export function cpuSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
}

function cpuSecondsOf(pid: number): number {
  const nanoseconds = sumOverThreads(pid, (directory) => Number(readFileSync(`${directory}/schedstat`, "utf8").split(" ")[0]));
  const living = nanoseconds / 1e9;
  // The name of the process, in parentheses, may contain spaces. Fields 14 and 15 of the line are user and system time.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const ended = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond - living;
  return ended > tickRoundingSeconds ? living + ended : living;
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
  return pids.reduce((sum, pid) => sum + sumOverThreads(pid, ofThread), 0);
}
