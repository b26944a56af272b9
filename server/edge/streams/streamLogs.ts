/** StreamLogs knows the positions of the logs that streams read, and reads the position that a resume token names. */
import { AppError } from "../../../api/schema/error.ts";
import { partitionOfLog } from "../../platform/actors/trimRows.ts";
import type { LogRead, Storage } from "../../platform/storage/port.ts";
import type { StreamStart } from "./port.ts";

export interface StreamLogs {
  /** Position of the last entry. */
  tail(log: string): Promise<number>;
  /** Reads the entries after a position: at most `readLimit`, and at most the bytes that are read ahead for one reader. */
  read(log: string, after: number): Promise<LogRead>;
  /** Position at which a reader begins: after its token, at the end, or before the oldest stored entry. */
  begin(log: string, start: StreamStart, options: { readonly from: "start" | "now"; toPosition(token: string): number }): Promise<number>;
}

const readLimit = 100;

/** `readAheadBytes`: most bytes of one log that are read for one reader (`sse.buffer`). */
export function createStreamLogs(storage: Pick<Storage, "log">, readAheadBytes: number): StreamLogs {
  const tail = (log: string) => storage.log.tail(partitionOfLog(log), log);

  async function beforeFirst(log: string): Promise<number> {
    const found = await storage.log.read({ partition: partitionOfLog(log), log, after: 0, limit: 1 });
    return found.gap ? found.firstKept - 1 : 0;
  }

  return {
    tail,
    read: (log, after) => storage.log.read({ partition: partitionOfLog(log), log, after, limit: readLimit, maxBytes: readAheadBytes }),
    async begin(log, { from, lastEventId }, { from: usual, toPosition }) {
      if (lastEventId !== undefined) return toPosition(lastEventId);
      return (from ?? usual) === "start" ? beforeFirst(log) : tail(log);
    },
  };
}

const position = /^(?:0|[1-9]\d{0,14})$/;

/** Reads a position. Throws `bad_request` if the text is none; `form` says which form a token of the stream has. */
export function readPosition(text: string, form: string): number {
  if (!position.test(text)) throw new AppError("bad_request", `The last event id does not belong to this stream; it must be ${form}.`);
  return Number(text);
}
