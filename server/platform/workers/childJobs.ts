/**
 * Runs inside a child process: takes one job after the other from its input and answers each (childWorker.ts is the other end).
 *
 * It does not know the jobs, which belong to the program, nor their limits, which the parent enforces by killing the
 * process. The process ends with its parent: its input ends, and a thread looks after the parent even while a job hangs.
 */
import { setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { createFrameReader, encodeFrame, type Frame } from "./childFrames.ts";

export type ChildJob = (head: unknown, bytes: Uint8Array) => Promise<Frame>;

/** The first answer says that the process is ready; each further one is that of a job. */
export type ChildAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly reason: string };

export interface ChildProgram {
  /** Prepares the process and returns the function that runs its jobs. */
  prepare(): Promise<ChildJob>;
}

/** The input of a child is trusted, so its frames may be as large as the lengths can say. */
const maxFrameBytes = 2 ** 31;

const watchParent = `
  const { ppid } = process;
  setInterval(() => { if (process.ppid !== ppid) process.kill(process.pid, "SIGKILL"); }, 1000);
`;

export function serveJobs(program: ChildProgram): void {
  if (process.platform === "linux") setPriority(10);
  new Worker(watchParent, { eval: true }).unref();
  const write = process.stdout.write.bind(process.stdout);
  // The output belongs to the answers. Whatever a library prints would be read as a frame.
  process.stdout.write = () => true;
  const answer = (head: ChildAnswer, bytes: Uint8Array = new Uint8Array()) => {
    for (const part of encodeFrame({ head, bytes })) write(part);
  };

  async function work(job: ChildJob, { head, bytes }: Frame): Promise<void> {
    try {
      const result = await job(head, bytes);
      answer({ kind: "done", result: result.head }, result.bytes);
    } catch (error) {
      answer({ kind: "failed", reason: String(error instanceof Error ? error.stack : error) });
    }
  }

  const readFrames = createFrameReader(maxFrameBytes);
  void program.prepare().then((job) => {
    process.stdin.on("data", (chunk: Buffer) => {
      for (const frame of readFrames(chunk)) void work(job, frame);
    });
    process.stdin.on("end", () => process.exit(0));
    answer({ kind: "ready" });
  });
}
