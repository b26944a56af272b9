/**
 * One node of the rig: the real server as a process, its link to the store if it has one, and the faults for both. It
 * counts the faults and records the maximum memory of its processes.
 */
import { readFileSync } from "node:fs";
import type { FaultProxy } from "../../support/faultProxy.ts";
import type { RunningServer, Settings } from "../../support/server.ts";
import type { WallClock } from "./wallClock.ts";

export interface RigNode {
  readonly server: RunningServer;
  readonly url: string;
  /** Link between node and store; undefined for the embedded store. */
  readonly link: FaultProxy | undefined;
  /** Set if the rig's nodes have their own clocks. */
  readonly wall: WallClock | undefined;
  readonly isUp: boolean;
  readonly kills: number;
  readonly stops: number;
  readonly maxRssMiB: number;
  /** Sends `kill -9`; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Starts the node again on its port and data; resolves when it is ready. */
  start(settings?: Settings): Promise<void>;
  /** Pauses the process. `resume` lets it continue. */
  pause(): void;
  resume(): void;
}

/** Maximum memory of a process in MiB; 0 after its end. */
function readPeakMiB(pid: number): number {
  try {
    return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}

export function createRigNode(server: RunningServer, link: FaultProxy | undefined, wall: WallClock | undefined): RigNode {
  let [kills, stops, maxRssMiB, isUp] = [0, 0, 0, true];
  const look = () => {
    maxRssMiB = Math.max(maxRssMiB, readPeakMiB(server.pid));
    return maxRssMiB;
  };
  return {
    server,
    link,
    wall,
    get url() {
      return server.url;
    },
    get isUp() {
      return isUp;
    },
    get kills() {
      return kills;
    },
    get stops() {
      return stops;
    },
    get maxRssMiB() {
      return look();
    },
    async kill() {
      look();
      kills += 1;
      isUp = false;
      await server.kill();
    },
    async start(settings) {
      await server.start(settings);
      isUp = true;
    },
    pause() {
      stops += 1;
      process.kill(server.pid, "SIGSTOP");
    },
    resume: () => void process.kill(server.pid, "SIGCONT"),
  };
}
