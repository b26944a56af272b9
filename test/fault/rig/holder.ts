/**
 * Uses one key in every way at one node: over REST and tRPC repeatedly, with a document's socket and a timeline's
 * stream. Records the allowed requests and the times of the closes.
 */
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";

export interface Use {
  readonly surface: string;
  /** Value of `performance.now()`, like `endedMs`. */
  readonly begunMs: number;
  readonly endedMs: number;
  /** 0 if there was no answer. */
  readonly status: number;
}

export interface Holder {
  readonly uses: readonly Use[];
  /** Times when the server closed the socket and the stream; Infinity while they are open. */
  readonly closed: { readonly socket: number; readonly stream: number };
  /** True if socket and stream are open and each kind of request was answered. */
  readonly isSettled: boolean;
  stop(): Promise<void>;
}

const betweenUsesMs = 5;
/** Longer than a node waits for its store. */
const answerMs = 6000;

export function openHolder(options: {
  readonly url: string;
  readonly key: string;
  readonly workspaceId: string;
  readonly articleId: string;
}): Holder {
  const { url, key, workspaceId, articleId } = options;
  const headers = { "x-api-key": key };
  const paths = {
    rest: `/articles/${articleId}`,
    trpc: `/trpc/articles.get?input=${encodeURIComponent(JSON.stringify({ articleId }))}`,
    admin: `/workspaces/${workspaceId}/webhooks`,
  };
  const uses: Use[] = [];
  const closed = { socket: Number.POSITIVE_INFINITY, stream: Number.POSITIVE_INFINITY };
  let [isOver, isHearing, isReading] = [false, false, false];
  const leave = new AbortController();

  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/collab/${articleId}`, { headers });
  socket.on("error", () => {});
  socket.on("open", () => socket.send(Uint8Array.from([0, 0, 1, 0])));
  socket.on("message", () => {
    isHearing = true;
  });
  socket.on("close", () => {
    closed.socket = performance.now();
  });

  const reading = (async () => {
    try {
      const answer = await fetch(`${url}/workspaces/${workspaceId}/timeline/stream`, { headers, signal: leave.signal });
      isReading = answer.status === 200;
      for await (const piece of answer.body ?? []) void piece;
    } catch {
      // The test closed the stream, or the connection was lost.
    }
    closed.stream = performance.now();
  })();

  const using = Object.entries(paths).map(async ([surface, path]) => {
    while (!isOver) {
      const begunMs = performance.now();
      const status = await fetch(url + path, { headers, signal: AbortSignal.timeout(answerMs) })
        .then(async (answer) => {
          await answer.arrayBuffer();
          return answer.status;
        })
        .catch(() => 0);
      uses.push({ surface, begunMs, endedMs: performance.now(), status });
      await pause(betweenUsesMs);
    }
  });

  return {
    uses,
    closed,
    get isSettled() {
      return isHearing && isReading && Object.keys(paths).every((surface) => uses.some((use) => use.surface === surface));
    },
    async stop() {
      isOver = true;
      leave.abort();
      socket.terminate();
      await Promise.all([...using, reading]);
    },
  };
}
