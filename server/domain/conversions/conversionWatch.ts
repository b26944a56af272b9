/**
 * ConversionWatch tells of changes of a conversion: a request waits for its end, and the work stops if it was deleted.
 *
 * A bus message wakes the watch, which then reads the record. Messages may be lost between nodes, so a waiting request
 * also reads the record once a second, and a deleted conversion cannot store its result in any case.
 */
import type { After } from "../../platform/actors/after.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { type ConversionRecord, conversionRecord, hasEnded } from "./records.ts";

const nothing = new Uint8Array();
const pollMs = 1000;

function topicOf(conversionId: string): string {
  return `conversion/${conversionId}`;
}

export function announceConversion(bus: Storage["bus"], conversionId: string): void {
  bus.publish(topicOf(conversionId), nothing);
}

/** Calls `abort` when the conversion is deleted. Returns the function that ends the watch. */
export function watchDeletion(storage: Pick<Storage, "bus" | "records">, conversionId: string, abort: () => void): () => void {
  async function look(): Promise<void> {
    if ((await storage.records.get(conversionRecord, conversionId)) === undefined) abort();
  }
  // A failed read says nothing about the conversion, so ignore the error.
  const wake = () => void look().catch(() => {});
  const stop = storage.bus.subscribe(topicOf(conversionId), wake);
  // Changes between the start of the work and the subscription were not received.
  wake();
  return stop;
}

export interface EndWaits {
  /** Resolves when the conversion has ended or was deleted, after `waitMs`, when `signal` aborts, or when the server drains. */
  wait(conversionId: string, waitMs: number, signal?: AbortSignal): Promise<void>;
  /** Ends all waits, so that a draining server can answer their requests. */
  stop(): void;
}

export interface EndWaitsOptions {
  readonly storage: Pick<Storage, "bus" | "records">;
  readonly clock: { now(): number; readonly after: After };
}

export function createEndWaits({ storage, clock }: EndWaitsOptions): EndWaits {
  const open = new Set<() => void>();
  let isStopped = false;

  async function isOver(conversionId: string): Promise<boolean> {
    const found: { readonly value: ConversionRecord } | undefined = await storage.records.get(conversionRecord, conversionId);
    return found === undefined || hasEnded(found.value);
  }

  return {
    async wait(conversionId, waitMs, signal) {
      const endsAtMs = clock.now() + waitMs;
      while (!isStopped && signal?.aborted !== true && clock.now() < endsAtMs) {
        let wake = () => {};
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        open.add(wake);
        const stop = storage.bus.subscribe(topicOf(conversionId), wake);
        const cancel = clock.after(Math.min(pollMs, endsAtMs - clock.now()), wake);
        signal?.addEventListener("abort", wake);
        try {
          if (await isOver(conversionId)) return;
          await woken;
        } finally {
          cancel();
          stop();
          signal?.removeEventListener("abort", wake);
          open.delete(wake);
        }
      }
    },
    stop() {
      isStopped = true;
      for (const wake of open) wake();
    },
  };
}
