/** Reads the CPU time of a process (user and system) from /proc. It is the most stable measure on a shared machine. */
import { readFileSync } from "node:fs";

const ticksPerSecond = 100;

export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Count the fields after the name, because the name may contain spaces: utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
