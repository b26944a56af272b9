/**
 * EventLoopLag reports how late the event loop runs its timers, under the names that prom-client uses.
 *
 * It samples once a second. The monitor of prom-client samples every 10 ms, which wakes an idle process 100 times a
 * second, and its values include the sampling interval.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";

const sampleMs = 1000;
/** Practically never: the monitor of prom-client cannot be switched off. */
const neverMs = 2 ** 31 - 1;

/** Adds the default metrics of prom-client, with this module's measure of the lag. */
export function collectProcessMetrics(register: Registry): void {
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: neverMs });
  const delays = monitorEventLoopDelay({ resolution: sampleMs });
  delays.enable();
  const registers = [register];

  /** Replaces the gauge that prom-client has made. */
  function replace(name: string, help: string, collect?: () => void): Gauge {
    register.removeSingleMetric(name);
    return new Gauge({ name, help, registers, ...(collect === undefined ? {} : { collect }) });
  }

  /** The first gauge sets all of them, because reading starts a new period. */
  function collect(): void {
    const toSeconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - sampleMs / 1000);
    if (delays.count > 0) {
      min.set(toSeconds(delays.min));
      max.set(toSeconds(delays.max));
      mean.set(toSeconds(delays.mean));
      stddev.set(delays.stddev / 1e9);
      p50.set(toSeconds(delays.percentile(50)));
      p90.set(toSeconds(delays.percentile(90)));
      p99.set(toSeconds(delays.percentile(99)));
    }
    delays.reset();
  }

  const min = replace("nodejs_eventloop_lag_min_seconds", "Minimum lag of the event loop in one-second samples.", collect);
  const max = replace("nodejs_eventloop_lag_max_seconds", "Maximum lag of the event loop in one-second samples.");
  const mean = replace("nodejs_eventloop_lag_mean_seconds", "Mean lag of the event loop in one-second samples.");
  const stddev = replace("nodejs_eventloop_lag_stddev_seconds", "Standard deviation of the lag of the event loop.");
  const p50 = replace("nodejs_eventloop_lag_p50_seconds", "50th percentile of the lag of the event loop.");
  const p90 = replace("nodejs_eventloop_lag_p90_seconds", "90th percentile of the lag of the event loop.");
  const p99 = replace("nodejs_eventloop_lag_p99_seconds", "99th percentile of the lag of the event loop.");
}
