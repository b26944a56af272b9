/** Creates the language model that the operator configured, with its own connection pool. */
import type { Logger } from "pino";
import type { Limits } from "../../../../api/limits.ts";
import type { Clock } from "../../../../realtime/ports.ts";
import type { Outbound } from "../../../platform/outbound/outbound.ts";
import type { Model, ModelOptions } from "./model.ts";

export interface ConfiguredModelOptions {
  /** Undefined if no model is configured. */
  readonly settings: Pick<ModelOptions, "baseUrl" | "apiKey" | "name"> | undefined;
  readonly outbound: Pick<Outbound, "connectModel">;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ConfiguredModel {
  readonly model?: Model;
  close(): Promise<void>;
}

export async function createConfiguredModel(options: ConfiguredModelOptions): Promise<ConfiguredModel> {
  const { settings, outbound, limits, clock, log } = options;
  if (settings === undefined) return { close: async () => {} };
  // Imported only here, because the client library of models takes 20 MB.
  const { createModel } = await import("./model.ts");
  const { fetch, close } = await outbound.connectModel(settings.baseUrl);
  const model = createModel({
    ...settings,
    fetch,
    totalMs: limits["model.totalMs"],
    maxTextBytes: limits["run.stepOutput"],
    after: clock.after,
    log,
  });
  return { model, close };
}
