/**
 * What the nodes that have the same document open say to each other over the bus. The bus may lose any of it: how long
 * the log is can be looked up, and who is here is told whole again and again.
 */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import type { PresenceNews } from "./remotePresence.ts";

export type RoomMessage =
  /** The log has grown to this revision. */
  | { readonly kind: "appended"; readonly revision: number }
  /** A node has just opened the document: who is here? */
  | { readonly kind: "hello" }
  | { readonly kind: "presence"; readonly news: PresenceNews };

const kinds = ["appended", "hello", "presence"] as const;

export function writeRoomMessage(nodeId: string, message: RoomMessage): Uint8Array {
  return encoding.encode((encoder) => {
    encoding.writeVarString(encoder, nodeId);
    encoding.writeUint8(encoder, kinds.indexOf(message.kind));
    if (message.kind === "appended") encoding.writeVarUint(encoder, message.revision);
    if (message.kind === "presence") encoding.writeVarString(encoder, JSON.stringify(message.news));
  });
}

/** Undefined for a node's own message, and for one that a newer version may understand. */
export function readRoomMessage(
  bytes: Uint8Array,
  ownNodeId: string,
): { readonly nodeId: string; readonly message: RoomMessage } | undefined {
  try {
    const decoder = decoding.createDecoder(bytes);
    const nodeId = decoding.readVarString(decoder);
    if (nodeId === ownNodeId) return undefined;
    switch (kinds[decoding.readUint8(decoder)]) {
      case "appended":
        return { nodeId, message: { kind: "appended", revision: decoding.readVarUint(decoder) } };
      case "hello":
        return { nodeId, message: { kind: "hello" } };
      case "presence":
        return { nodeId, message: { kind: "presence", news: JSON.parse(decoding.readVarString(decoder)) as PresenceNews } };
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}
