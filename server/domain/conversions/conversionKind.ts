/**
 * Defines conversions as an actor kind, and provides the effect that converts.
 *
 * After each commit the change is announced on the bus. The announcement ends the wait of a request, and it stops a
 * conversion that was deleted.
 */
import type { Limits } from "../../../api/limits.ts";
import { type ConversionContext, type ConversionEvent, createConversionMachine } from "../../../machines/conversion.ts";
import type { ActorKind, ProvidedKind, RunEffect } from "../../platform/actors/port.ts";
import { provide } from "../../platform/actors/provide.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { announceConversion } from "./conversionWatch.ts";
import { conversionRecord } from "./records.ts";

/** Conversions that run at once in this process: each uses one processor. */
const maxInFlight = 2;
/** Waits after errors of the server itself. After the last one the conversion fails. */
const backoffMs: readonly number[] = [1000, 5000];

export type ConversionKind = ActorKind<ConversionContext, ConversionEvent, "convert">;

export function defineConversionKind(limits: Pick<Limits, "keep.output" | "keep.conversions">): ConversionKind {
  return {
    name: "conversion",
    machine: createConversionMachine({ keepOutputMs: limits["keep.output"], keepMs: limits["keep.conversions"] }),
    machineVersion: 1,
    record: conversionRecord,
    effects: ["convert"],
    commands: ["conversion.delete"],
    backoffMs,
    maxInFlight,
    // One account with many conversions does not delay those of others.
    lane: ({ accountId }) => ({ name: `conversion ${accountId}`, max: 1 }),
  };
}

export function provideConversionEffects(
  kind: ConversionKind,
  { storage, convert }: { readonly storage: Pick<Storage, "bus">; readonly convert: RunEffect<ConversionContext, ConversionEvent> },
): ProvidedKind {
  return provide(kind, { convert }, { committed: ({ id }) => announceConversion(storage.bus, id) });
}
