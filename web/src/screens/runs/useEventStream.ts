/**
 * Reads an event stream while the page can be seen. A browser opens only a few connections to one server, so a hidden
 * tab holds none; it continues after its last event when it is shown again.
 */
import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from "react";
import type { AgentEvent, ApiError, StreamReset } from "../../../../client/index.ts";

export type StreamItem = AgentEvent | StreamReset;

export interface StreamStart {
  readonly signal: AbortSignal;
  /** Absent until an event was read. */
  readonly lastEventId?: string;
}

interface StreamOptions {
  readonly isOn?: boolean;
  /** The stream is opened again, after its last event, when this changes. */
  readonly epoch?: string;
  readonly open: (start: StreamStart) => AsyncIterable<StreamItem>;
  readonly tokenOf: (event: AgentEvent) => string;
  /** Receives events in their order, several at once if they come quickly. */
  readonly onItems: (items: readonly StreamItem[]) => void;
}

export interface EventStream {
  /** Why the server refused the stream. Interruptions are no errors: the stream continues by itself. */
  readonly error: ApiError | undefined;
  readonly retry: () => void;
}

/** Events that come within this time are shown together. */
const gatherMs = 40;

function subscribe(onChange: () => void): () => void {
  document.addEventListener("visibilitychange", onChange);
  return () => document.removeEventListener("visibilitychange", onChange);
}
const useIsVisible = () => useSyncExternalStore(subscribe, () => document.visibilityState === "visible");

export function useEventStream({ isOn = true, epoch = "", open, tokenOf, onItems }: StreamOptions): EventStream {
  const isVisible = useIsVisible();
  const token = useRef<string>(undefined);
  const [error, setError] = useState<ApiError>();
  const [attempt, setAttempt] = useState(0);
  const start = useEffectEvent(open);
  const take = useEffectEvent((items: readonly StreamItem[]) => {
    // The token belongs to what was shown: events that were read but not shown are read again.
    for (const item of items) if (item.event !== "stream.reset") token.current = tokenOf(item);
    onItems(items);
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new epoch or attempt opens the stream again
  useEffect(() => {
    if (!isOn || !isVisible) return;
    const halt = new AbortController();
    let gathered: StreamItem[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    function show(): void {
      clearTimeout(timer);
      timer = undefined;
      const items = gathered;
      gathered = [];
      if (items.length > 0) take(items);
    }
    async function read(): Promise<void> {
      const after = token.current === undefined ? {} : { lastEventId: token.current };
      for await (const item of start({ signal: halt.signal, ...after })) {
        if (halt.signal.aborted) return;
        gathered.push(item);
        timer ??= setTimeout(show, gatherMs);
      }
      if (!halt.signal.aborted) show();
    }
    setError(undefined);
    read().catch((reason: ApiError) => {
      if (!halt.signal.aborted) setError(reason);
    });
    return () => {
      clearTimeout(timer);
      halt.abort();
    };
  }, [isOn, isVisible, epoch, attempt]);

  return { error, retry: () => setAttempt((before) => before + 1) };
}
