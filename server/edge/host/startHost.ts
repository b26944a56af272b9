/** Starts the host that fits this machine: uWebSockets.js, or the slower `node:http` where it has no binary. */
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import { CannotListen } from "../../platform/exit.ts";
import type { Host, HostApp } from "./port.ts";

export interface FittingHostOptions {
  readonly host: string;
  readonly port: number;
  readonly limits: Limits;
}

/** Throws `CannotListen`. */
export async function startFittingHost(app: HostApp, { host, port, limits }: FittingHostOptions, log: Logger): Promise<Host> {
  const options = {
    host,
    port,
    maxFrameBytes: limits["frame.bytes"],
    // A whole document must fit into the send buffer of a slow reader in addition to `socket.buffer`.
    maxBufferedBytes: limits["socket.buffer"] + limits["document.bytes"],
    onError: (err: unknown) => log.error({ err }, "connection handler failed with an unexpected error"),
  };
  try {
    const { startUwsHost } = await import("./uws.ts");
    return await startUwsHost(app, options);
  } catch (reason) {
    if (reason instanceof CannotListen) throw reason;
    log.warn(
      { reason: (reason as Error).message },
      `uWebSockets.js has no binary for Node ${process.versions.node} on ${process.platform} ${process.arch}: the server uses the slower node:http host instead`,
    );
    const { startNodeHost } = await import("./node.ts");
    return startNodeHost(app, options);
  }
}
