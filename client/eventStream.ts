/** Reads server-sent events from the body of an answer. */

export interface ServerSentEvent {
  readonly event: string;
  /** Absent if the event has no token. */
  readonly id: string | undefined;
  readonly data: string;
}

/** A server sends a comment after 15 silent seconds. After this time the connection is taken for dead. */
const silentMs = 45_000;

/** Ends with the body. Throws if the connection breaks or is silent for too long. */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await readInTime(reader);
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const found = readBlock(block);
        if (found !== undefined) yield found;
      }
    }
  } finally {
    // Closes the connection if the caller reads no further. A broken one cannot be closed again.
    await reader.cancel().catch(() => {});
  }
}

async function readInTime(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<ReadableStreamReadResult<Uint8Array>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The stream was silent for ${silentMs / 1000} seconds.`)), silentMs);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined for a comment, and for a block that has only a retry time. */
function readBlock(block: string): ServerSentEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name !== "") fields.set(name, value);
  }
  const data = fields.get("data");
  return data === undefined ? undefined : { event: fields.get("event") ?? "message", id: fields.get("id"), data };
}
