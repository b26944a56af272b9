/**
 * protocol reads and writes the frames of the collaboration socket: the y-websocket protocol, encoded with lib0
 * variable-length integers. No other file knows the layout of these frames.
 *
 * Reading never throws: any bytes become one of the frame kinds below. Message types 0 to 3 are those of stock clients.
 * Types 100 and 101 are extensions of this server and are sent only to clients that asked for them.
 *
 * This file must not interpret the content of updates or presence states.
 */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";

const message = { sync: 0, awareness: 1, auth: 2, queryAwareness: 3, ack: 100, refusal: 101 } as const;
const sync = { step1: 0, step2: 1, update: 2 } as const;
const auth = { permissionDenied: 0, credential: 1 } as const;
/** The first bytes of a frame that carries an update; its length and the update follow. */
export const updateFrameHead = [message.sync, sync.update] as const;

export type ClientFrame =
  /** The client requests everything that is not in its state vector. `stateVector` is well-formed. */
  | { readonly kind: "sync.step1"; readonly stateVector: Uint8Array }
  /** The answer to a sync step 1, normally one that the server sent. */
  | { readonly kind: "sync.step2"; readonly update: Uint8Array }
  | { readonly kind: "sync.update"; readonly update: Uint8Array }
  | { readonly kind: "awareness"; readonly payload: Uint8Array }
  | { readonly kind: "awareness.query" }
  | { readonly kind: "credential"; readonly text: string }
  /** A frame of another protocol. `detail` names the protocol of this server. */
  | { readonly kind: "foreign"; readonly detail: string }
  | { readonly kind: "malformed"; readonly detail: string };

export interface AwarenessEntry {
  readonly clientId: number;
  readonly clock: number;
  /** UTF-8 JSON of the state; the JSON `null` means that the client is gone. */
  readonly json: Uint8Array;
}

/** Yjs client ids are unsigned 32-bit integers. */
export const clientIdEnd = 2 ** 32;

/** Reads one whole frame. A frame with bytes left over is malformed. */
export function parseFrame(bytes: Uint8Array): ClientFrame {
  const frame = readWhole(bytes);
  return frame.kind === "malformed" && isHocuspocusFrame(bytes) ? { kind: "foreign", detail: hocuspocusAdvice } : frame;
}

function readWhole(bytes: Uint8Array): ClientFrame {
  const decoder = decoding.createDecoder(bytes);
  try {
    const frame = readFrame(decoder);
    return decoding.hasContent(decoder) ? { kind: "malformed", detail: "bytes are left over after the message" } : frame;
  } catch {
    // lib0 throws when the bytes end early, an integer exceeds 2^53 or a text is not UTF-8.
    return { kind: "malformed", detail: "the frame is cut or not in lib0 encoding" };
  }
}

const hocuspocusAdvice = "this server speaks the y-websocket protocol, not Hocuspocus: connect with WebsocketProvider of y-websocket 3.1";

/**
 * Recognises the first frame of a Hocuspocus client. The frame begins with the document's name as a string. Then follows
 * an auth message (type 2, then 0 and a token), or a sync message from versions that send no auth message without a token.
 */
function isHocuspocusFrame(bytes: Uint8Array): boolean {
  const decoder = decoding.createDecoder(bytes);
  try {
    decoding.readVarString(decoder);
    const type = decoding.readVarUint(decoder);
    if (type === message.sync) return readSync(decoder).kind !== "malformed" && !decoding.hasContent(decoder);
    if (type !== message.auth || decoding.readVarUint(decoder) !== 0) return false;
    decoding.readVarString(decoder);
    return true;
  } catch {
    return false;
  }
}

function readFrame(decoder: decoding.Decoder): ClientFrame {
  const type = decoding.readVarUint(decoder);
  switch (type) {
    case message.sync:
      return readSync(decoder);
    case message.awareness:
      return { kind: "awareness", payload: decoding.readVarUint8Array(decoder) };
    case message.auth:
      if (decoding.readVarUint(decoder) !== auth.credential) return { kind: "malformed", detail: "only a server denies permission" };
      return { kind: "credential", text: decoding.readVarString(decoder) };
    case message.queryAwareness:
      return { kind: "awareness.query" };
    default:
      return { kind: "malformed", detail: `there is no message type ${type}` };
  }
}

function readSync(decoder: decoding.Decoder): ClientFrame {
  const step = decoding.readVarUint(decoder);
  if (step !== sync.step1 && step !== sync.step2 && step !== sync.update) {
    return { kind: "malformed", detail: `there is no sync message ${step}` };
  }
  const payload = decoding.readVarUint8Array(decoder);
  if (step === sync.step2) return { kind: "sync.step2", update: payload };
  if (step === sync.update) return { kind: "sync.update", update: payload };
  if (!isStateVector(payload)) return { kind: "malformed", detail: "the state vector is not whole" };
  return { kind: "sync.step1", stateVector: payload };
}

/** May throw, as every lib0 reader may. The caller treats an exception as a malformed frame. */
function isStateVector(bytes: Uint8Array): boolean {
  const decoder = decoding.createDecoder(bytes);
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
    if (decoding.readVarUint(decoder) >= clientIdEnd || decoding.readVarUint(decoder) > clientIdEnd) return false;
  }
  return !decoding.hasContent(decoder);
}

/** Reads the entries of a presence message for which `keep` returns true, at most `limit`. Undefined when malformed. */
export function parseAwareness(
  payload: Uint8Array,
  limit: number,
  keep: (clientId: number, clock: number) => boolean,
): readonly AwarenessEntry[] | undefined {
  const decoder = decoding.createDecoder(payload);
  const entries: AwarenessEntry[] = [];
  try {
    for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
      const clientId = decoding.readVarUint(decoder);
      const clock = decoding.readVarUint(decoder);
      const json = decoding.readVarUint8Array(decoder);
      if (clientId >= clientIdEnd) return undefined;
      if (entries.length < limit && keep(clientId, clock)) entries.push({ clientId, clock, json });
    }
  } catch {
    return undefined;
  }
  return decoding.hasContent(decoder) ? undefined : entries;
}

/** Builds a frame in one allocation, because a lib0 encoder would copy a large payload twice. */
function withPayload(head: readonly number[], payload: Uint8Array): Uint8Array {
  let length = payload.length;
  let lengthBytes = 1;
  for (let rest = length; rest >= 128; rest = Math.floor(rest / 128)) lengthBytes += 1;
  const frame = new Uint8Array(head.length + lengthBytes + payload.length);
  frame.set(head);
  let at = head.length;
  for (; length >= 128; length = Math.floor(length / 128)) frame[at++] = 128 + (length % 128);
  frame[at++] = length;
  frame.set(payload, at);
  return frame;
}

export function writeSyncStep1(stateVector: Uint8Array): Uint8Array {
  return withPayload([message.sync, sync.step1], stateVector);
}

export function writeSyncStep2(update: Uint8Array): Uint8Array {
  return withPayload([message.sync, sync.step2], update);
}

export function writeUpdate(update: Uint8Array): Uint8Array {
  return withPayload([message.sync, sync.update], update);
}

export function writeAwareness(
  entries: readonly { readonly clientId: number; readonly clock: number; readonly json: string }[],
): Uint8Array {
  const payload = encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, entries.length);
    for (const { clientId, clock, json } of entries) {
      encoding.writeVarUint(encoder, clientId);
      encoding.writeVarUint(encoder, clock);
      encoding.writeVarString(encoder, json);
    }
  });
  return withPayload([message.awareness], payload);
}

/** Presence message without entries. Every client accepts it and does nothing, so it serves as a keep-alive frame. */
export const emptyFrame: Uint8Array = writeAwareness([]);

/** Writes a permission-denied message. A stock client prints the reason and stays connected. */
export function writePermissionDenied(reason: string): Uint8Array {
  return encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, message.auth);
    encoding.writeVarUint(encoder, auth.permissionDenied);
    encoding.writeVarString(encoder, reason);
  });
}

/** Extension: the updates that the client sent so far are stored; the article is at `revision`. */
export function writeAck(revision: number): Uint8Array {
  return encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, message.ack);
    encoding.writeVarUint(encoder, revision);
  });
}

/** Extension: a machine-readable refusal, as the JSON text `{code, detail}`. */
export function writeRefusal(code: string, detail: string): Uint8Array {
  return encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, message.refusal);
    encoding.writeVarString(encoder, JSON.stringify({ code, detail }));
  });
}
