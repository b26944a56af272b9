/**
 * Metrics collects the server's counters and renders them as Prometheus text.
 *
 * Each member reports one fact. The other parts of the server call only these functions and know nothing of Prometheus.
 */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { collectProcessMetrics } from "./eventLoopLag.ts";

/** Values that are read when the text is rendered, so that no other code has to update a gauge. */
export interface Gauges {
  /** Open sockets by kind. */
  sockets(): Readonly<Record<string, number>>;
  rooms(): number;
  /** Bytes of request bodies in memory. */
  bodyBytes(): number;
  /** Stored runs of all workspaces by status. */
  runs(): Promise<ReadonlyMap<string, number>>;
  /** The search index of this node. */
  search(): { readonly state: string; readonly documents: number; readonly builtPartitions: number };
}

export interface Metrics {
  readonly contentType: string;
  render(): Promise<string>;
  /** Sets the source of the gauges for later calls of `/metrics`. */
  watch(gauges: Gauges): void;
  callAnswered(operation: string, status: number, ms: number): void;
  batchAppended(updates: number, ms: number): void;
  framesRelayed(frames: number): void;
  updateRefused(code: string): void;
  dueLag(kind: string, lagMs: number): void;
  effectAttempt(kind: string, outcome: string): void;
  webhookAttempt(outcome: string, ms: number): void;
  storeError(): void;
  /** A concurrent change invalidated an attempt of the operation. `exhausted` means that the operation gave up. */
  conflictMet(met: { readonly operation: string; readonly outcome: "retried" | "exhausted" }): void;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const lagBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600, 3600];
const webhookBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

export function createMetrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectProcessMetrics(registry);
  let gauges: Gauges = {
    sockets: () => ({}),
    rooms: () => 0,
    bodyBytes: () => 0,
    runs: async () => new Map(),
    search: () => ({ state: "rebuilding", documents: 0, builtPartitions: 0 }),
  };

  const http = new Histogram({
    name: "svc_http_seconds",
    help: "Time from request to answer, by operation and status.",
    labelNames: ["op", "status"],
    buckets: secondsBuckets,
    registers,
  });
  const append = new Histogram({
    name: "svc_append_seconds",
    help: "Time until a batch of updates of one document was durable.",
    buckets: secondsBuckets,
    registers,
  });
  const batch = new Histogram({
    name: "svc_append_batch",
    help: "Updates in one batch of a document.",
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  });
  const relayed = new Counter({
    name: "svc_relay_frames_total",
    help: "Frames that were sent to the other readers of a document.",
    registers,
  });
  const refused = new Counter({
    name: "svc_refused_updates_total",
    help: "Updates that were neither stored nor relayed, by code.",
    labelNames: ["code"],
    registers,
  });
  const lag = new Histogram({
    name: "svc_due_lag_seconds",
    help: "How long a due row waited past its time, by kind.",
    labelNames: ["kind"],
    buckets: lagBuckets,
    registers,
  });
  const attempts = new Counter({
    name: "svc_effect_attempts_total",
    help: "Attempts of effects, by kind of actor and outcome.",
    labelNames: ["kind", "outcome"],
    registers,
  });
  const webhook = new Histogram({
    name: "svc_webhook_seconds",
    help: "Duration of webhook attempts, by outcome.",
    labelNames: ["outcome"],
    buckets: webhookBuckets,
    registers,
  });
  const storeErrors = new Counter({ name: "svc_store_errors_total", help: "Writes that the store refused, or that failed.", registers });
  const conflicts = new Counter({
    name: "svc_conflicts_total",
    help: "Attempts that a concurrent change made invalid, by operation and whether another attempt followed.",
    labelNames: ["op", "outcome"],
    registers,
  });
  new Gauge({
    name: "svc_sockets",
    help: "Open sockets, by kind.",
    labelNames: ["kind"],
    registers,
    collect() {
      for (const [kind, open] of Object.entries(gauges.sockets())) this.set({ kind }, open);
    },
  });
  new Gauge({
    name: "svc_rooms",
    help: "Documents in memory.",
    registers,
    collect() {
      this.set(gauges.rooms());
    },
  });

  new Gauge({
    name: "svc_body_bytes",
    help: "Bytes of request bodies in memory, until their requests are answered.",
    registers,
    collect() {
      this.set(gauges.bodyBytes());
    },
  });
  new Gauge({
    name: "svc_runs",
    help: "Runs that are kept, by status.",
    labelNames: ["status"],
    registers,
    async collect() {
      for (const [status, count] of await gauges.runs()) this.set({ status }, count);
    },
  });
  new Gauge({
    name: "svc_search_documents",
    help: "Documents in the search index of this node.",
    registers,
    collect() {
      this.set(gauges.search().documents);
    },
  });
  new Gauge({
    name: "svc_search_partitions",
    help: "Partitions of the store whose records are all in the search index of this node, of 64.",
    registers,
    collect() {
      this.set(gauges.search().builtPartitions);
    },
  });
  new Gauge({
    name: "svc_search_failed",
    help: "1 while the search index of this node cannot be brought up to date.",
    registers,
    collect() {
      this.set(gauges.search().state === "failed" ? 1 : 0);
    },
  });

  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    watch(asked) {
      gauges = asked;
    },
    callAnswered(op, status, ms) {
      http.observe({ op, status }, ms / 1000);
    },
    batchAppended(updates, ms) {
      append.observe(ms / 1000);
      batch.observe(updates);
    },
    framesRelayed(frames) {
      relayed.inc(frames);
    },
    updateRefused(code) {
      refused.inc({ code });
    },
    dueLag(kind, lagMs) {
      lag.observe({ kind }, Math.max(0, lagMs) / 1000);
    },
    effectAttempt(kind, outcome) {
      attempts.inc({ kind, outcome });
    },
    webhookAttempt(outcome, ms) {
      webhook.observe({ outcome }, ms / 1000);
    },
    storeError() {
      storeErrors.inc();
    },
    conflictMet({ operation, outcome }) {
      conflicts.inc({ op: operation, outcome });
    },
  };
}
