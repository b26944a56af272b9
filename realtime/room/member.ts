/** member declares what a room needs of the connections that it serves. */
import type { Member } from "../presence/presenceStore.ts";
import type { TopicMember } from "./topicGroup.ts";

export interface RoomMember extends Member, TopicMember {
  /** True when the member is connected and its credential may write. */
  readonly isWriter: boolean;
  /** True when the server may send sync step 1 to the member. */
  readonly mayResync: boolean;
  /** When the server last sent sync step 1 (Unix milliseconds). */
  readonly resyncedAtMs: number;
  /** Sends sync step 1, which requests what the server lacks. `stateVector` must contain durable state only. */
  sendSyncStep1(stateVector: Uint8Array): void;
  /** Reports that the member's updates are stored and that the article is at `revision`. */
  acknowledge(revision: number): void;
  /** Sends a frame that the member asked for. Its size is added to what the member may leave unread. */
  deliverAnswer(frame: Uint8Array): void;
  close(code: number, reason: string): void;
}
