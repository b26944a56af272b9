/** CPU time a process has used, user and system together, from /proc: the steadiest figure on a shared machine. */
import { readFileSync } from "node:fs";

const ticksPerSecond = 100;

export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Fields after the name, which may hold spaces: utime and stime are the 14th and 15th of the line.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
