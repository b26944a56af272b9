/**
 * One node of the rig: the real server as a process, its link to the store where there is one, and what may be done to
 * both. It counts what was done, and remembers the most memory that any of its processes held.
 */
import { readFileSync } from "node:fs";
import type { FaultProxy } from "../../support/faultProxy.ts";
import type { RunningServer, Settings } from "../../support/server.ts";
import type { WallClock } from "./wallClock.ts";

export interface RigNode {
  readonly server: RunningServer;
  readonly url: string;
  /** Between node and store; the embedded store has none. */
  readonly link: FaultProxy | undefined;
  /** Where the rig's nodes have clocks of their own. */
  readonly wall: WallClock | undefined;
  readonly isUp: boolean;
  readonly kills: number;
  readonly stops: number;
  readonly maxRssMiB: number;
  /** `kill -9`, and the process is gone. */
  kill(): Promise<void>;
  /** Again on its port and data; resolves when it is ready. */
  start(settings?: Settings): Promise<void>;
  /** Stops it in its tracks, and lets it go on. */
  pause(): void;
  resume(): void;
}

/** The most memory of its own that a process ever held; 0 when it is gone. */
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
