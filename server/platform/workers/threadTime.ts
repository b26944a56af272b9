/**
 * ThreadTime reads how much processor time one thread of this process has used, or a child process.
 *
 * A time limit for a thread is meant for its work. On a busy machine a thread can wait for a processor much longer than it
 * works, above all one of low priority, so the time on the clock says little about its task. Only Linux shows the time of
 * a single thread; elsewhere it is unknown.
 */
import { readFileSync, readlinkSync } from "node:fs";

/** /proc counts in hundredths of a second on every architecture that Node.js supports. */
const msPerTick = 10;

/** Returns the id of the calling thread in the operating system; undefined if the time of a thread is unknown here. */
export function ownThreadId(): number | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  } catch {
    // A container may have no /proc.
    return undefined;
  }
}

/** Returns the processor time that the thread has used, in milliseconds; undefined if it is unknown or the thread has ended. */
export function processorMsOf(threadId: number | undefined): number | undefined {
  return threadId === undefined ? undefined : readProcessorMs(`/proc/self/task/${threadId}/stat`);
}

/** Returns the processor time of all threads of a process, in milliseconds; undefined if it is unknown or the process has ended. */
export function processorMsOfProcess(processId: number | undefined): number | undefined {
  return processId === undefined ? undefined : readProcessorMs(`/proc/${processId}/stat`);
}

/** Returns the memory of a process that is in use, in bytes; undefined if it is unknown or the process has ended. */
export function residentBytesOf(processId: number | undefined): number | undefined {
  if (processId === undefined || process.platform !== "linux") return undefined;
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, "latin1"))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

function readProcessorMs(file: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const stat = readFileSync(file, "latin1");
    // The second field is the name in parentheses, which may contain anything. `utime` and `stime` are fields 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * msPerTick;
  } catch {
    return undefined;
  }
}
