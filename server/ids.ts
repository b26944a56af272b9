/** Placeholder of the interface; the storage builder completes this file. */
import type { IdPrefix } from "../api/schema/id.ts";
import type { Partition } from "./storage/port.ts";

export interface IdSource {
  next(prefix: IdPrefix, partition: Partition): string;
  bytes(count: number): Uint8Array;
}
