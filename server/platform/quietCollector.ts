/**
 * QuietCollector collects garbage when the process has become quiet after a busy time.
 *
 * Rooms and the parts of connections live for some seconds, so V8 moves them to the old generation. When they are dropped
 * and nothing else happens, nothing is allocated either, and V8 does not collect them: 2,000 connections that joined
 * documents of their own left 18 MB of garbage. V8 does return unused pages, but only after a collection.
 *
 * A forced collection (`--expose-gc`) stops the process for 50 to 350 ms. This module lets V8 begin an incremental
 * collection instead, which marks on another thread and in short steps. A busy process is never disturbed.
 */
import { type EventLoopUtilization, performance } from "node:perf_hooks";
import type { After } from "./actors/after.ts";

const checkMs = 2000;
/** Share of the time in which the event loop was busy. From the upper share on the process has made garbage. */
const quietShare = 0.02;
const busyShare = 0.1;
/** Checks between two collections. Rooms and the parts of connections are dropped up to 8 s after their last use. */
const checksPerCollection = 2;
/** One collection is not enough: later ones compact the pages, and collect the rooms that were dropped after the first one. */
const collectionsInQuiet = 4;
/** V8 begins an incremental collection when 64 MB of external memory were added since the last one. */
const reservedBytes = 72 * 1024 * 1024;

export interface QuietCollectorOptions {
  readonly after: After;
  /** Share of the time since the last call in which the event loop was busy, from 0 to 1. */
  readonly busyShare?: () => number;
  /** Begins a collection. */
  readonly collect?: () => void;
}

/** Starts the collector. Returns a function that stops it. */
export function startQuietCollector(options: QuietCollectorOptions): () => void {
  const { after, busyShare: readBusyShare = createBusyShare(), collect = beginCollection } = options;
  let quietChecks = 0;
  let collectionsLeft = collectionsInQuiet;

  function check(): void {
    cancel = after(checkMs, check);
    const share = readBusyShare();
    if (share >= busyShare) collectionsLeft = collectionsInQuiet;
    quietChecks = share < quietShare ? quietChecks + 1 : 0;
    if (collectionsLeft === 0 || quietChecks < checksPerCollection) return;
    quietChecks = 0;
    collectionsLeft -= 1;
    collect();
  }

  let cancel = after(checkMs, check);
  return () => cancel();
}

/**
 * Begins an incremental collection of the whole heap, by reserving memory that V8 counts. The memory is never written, so
 * it takes address space but no pages, and the next collection frees it.
 */
export function beginCollection(): void {
  new ArrayBuffer(reservedBytes);
}

function createBusyShare(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
