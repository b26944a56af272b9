/**
 * ChildFrames is the form of messages between this process and a child process: a head of JSON and bytes.
 *
 * Two lengths come first, as 32-bit numbers. A frame above the limit ends the connection, because the child may be under
 * the control of a hostile document.
 */

export interface Frame {
  readonly head: unknown;
  readonly bytes: Uint8Array;
}

export class FrameTooLarge extends Error {
  override readonly name = "FrameTooLarge";
}

const prefixBytes = 8;

export function encodeFrame({ head, bytes }: Frame): Buffer[] {
  const text = Buffer.from(JSON.stringify(head), "utf8");
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(text.byteLength, 0);
  prefix.writeUInt32BE(bytes.byteLength, 4);
  return [prefix, text, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)];
}

/** Returns a function that takes the chunks of a stream and returns the frames that they complete. */
export function createFrameReader(maxBytes: number): (chunk: Buffer) => Frame[] {
  let chunks: Buffer[] = [];
  let size = 0;
  let wanted = prefixBytes;

  function takeFrame(): Frame | undefined {
    if (size < wanted) return undefined;
    const all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    const headEnd = prefixBytes + all.readUInt32BE(0);
    const end = headEnd + all.readUInt32BE(4);
    chunks = [all];
    if (end > maxBytes) throw new FrameTooLarge(`a frame of ${end} bytes is larger than ${maxBytes}`);
    wanted = end;
    if (size < end) return undefined;
    chunks = end === all.byteLength ? [] : [all.subarray(end)];
    size -= end;
    wanted = prefixBytes;
    return { head: JSON.parse(all.toString("utf8", prefixBytes, headEnd)) as unknown, bytes: all.subarray(headEnd, end) };
  }

  return (chunk) => {
    chunks.push(chunk);
    size += chunk.byteLength;
    const frames: Frame[] = [];
    for (let frame = takeFrame(); frame !== undefined; frame = takeFrame()) frames.push(frame);
    return frames;
  };
}
