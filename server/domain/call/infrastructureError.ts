/** Recognises errors of the store or of a document's room, for work that is repeated until they end. */
import { AppError } from "../../../api/schema/error.ts";
import { WriteFenced } from "../../../realtime/room/rooms.ts";
import { StorageFullError, StorageUnavailableError } from "../../platform/storage/port.ts";

/** True for an error that the work itself did not cause. */
export function isInfrastructureError(reason: unknown): boolean {
  if (reason instanceof StorageFullError || reason instanceof StorageUnavailableError || reason instanceof WriteFenced) return true;
  return reason instanceof AppError && (reason.code === "unavailable" || reason.code === "disk_full");
}
