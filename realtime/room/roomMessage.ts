/**
 * roomMessage reads and writes the bus messages between nodes that have the same document open.
 *
 * The bus may lose any message, and no update is lost by that: each node also polls the length of the log, and sends its
 * whole presence at intervals.
 */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import type { NodePresence } from "../presence/remotePresence.ts";

export type RoomMessage =
  /** The log has grown to this revision. */
  | { readonly kind: "appended"; readonly revision: number }
  /** A node has just opened the document and asks the other nodes for their presence. */
  | { readonly kind: "opened" }
  | { readonly kind: "presence"; readonly presence: NodePresence };

const kinds = ["appended", "opened", "presence"] as const;

export function writeRoomMessage(nodeId: string, message: RoomMessage): Uint8Array {
  return encoding.encode((encoder) => {
    encoding.writeVarString(encoder, nodeId);
    encoding.writeUint8(encoder, kinds.indexOf(message.kind));
    if (message.kind === "appended") encoding.writeVarUint(encoder, message.revision);
    if (message.kind === "presence") encoding.writeVarString(encoder, JSON.stringify(message.presence));
  });
}

/** Reads a bus message. Undefined for the node's own messages and for unreadable ones, such as those of a newer version. */
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
      case "opened":
        return { nodeId, message: { kind: "opened" } };
      case "presence":
        return { nodeId, message: { kind: "presence", presence: JSON.parse(decoding.readVarString(decoder)) as NodePresence } };
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}
