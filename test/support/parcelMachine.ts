/**
 * A small machine for tests of the runtime: ordered effects, a timer that fires, one that a move cancels, a journal of
 * facts, and an end.
 */
import { assign, setup } from "xstate";
import { effect, fact, timer } from "../../machines/effect.ts";
import type { ActorKind, ActorRecord, ProvidedKind, RecordedFact, RunEffect } from "../../server/platform/actors/port.ts";
import { type ProvideOptions, provide } from "../../server/platform/actors/provide.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { LogWrite } from "../../server/platform/storage/port.ts";
import { defineRecord } from "../../server/platform/storage/recordType.ts";

export interface ParcelContext {
  readonly lane?: string;
  readonly results: Readonly<Record<string, number>>;
  readonly order: readonly string[];
  readonly rang: number;
  readonly idled: number;
  readonly notes: number;
  readonly reason?: string;
  readonly bornAtMs: number;
}

export type ParcelEvent =
  | { type: "parcel.send"; parts: readonly string[]; ringAtMs?: number; nowMs: number }
  | { type: "parcel.note"; nowMs: number }
  | { type: "parcel.wait"; untilMs: number; nowMs: number }
  | { type: "parcel.recall"; nowMs: number }
  | { type: "parcel.discard"; nowMs: number }
  | { type: "part.sent"; part: string; nowMs: number }
  | { type: "carry.exhausted"; reason: string; attempts: number; nowMs: number }
  | { type: "bell.rang"; nowMs: number }
  | { type: "wait.over"; nowMs: number };

const parcelMachine = setup({
  types: {
    context: {} as ParcelContext,
    events: {} as ParcelEvent,
    input: {} as { nowMs: number; lane?: string },
    tags: {} as "removed",
  },
  actions: { carry: effect<{ part: string }>(), journal: fact<{ what: string }>(), timer },
}).createMachine({
  id: "parcel",
  context: ({ input }) => ({
    ...(input.lane === undefined ? {} : { lane: input.lane }),
    results: {},
    order: [],
    rang: 0,
    idled: 0,
    notes: 0,
    bornAtMs: input.nowMs,
  }),
  initial: "packed",
  entry: { type: "journal", params: { what: "packed" } },
  on: {
    "bell.rang": {
      actions: [{ type: "journal", params: { what: "rang" } }, assign({ rang: ({ context }) => context.rang + 1 })],
    },
    "parcel.note": {
      actions: [{ type: "journal", params: { what: "noted" } }, assign({ notes: ({ context }) => context.notes + 1 })],
    },
  },
  states: {
    packed: {
      on: {
        "parcel.send": {
          target: "sending",
          actions: [
            { type: "journal", params: { what: "sending" } },
            { type: "carry", params: ({ event }) => ({ part: event.parts[0] ?? "whole" }) },
            { type: "journal", params: ({ event }) => ({ what: `parts ${event.parts.join(" ")}` }) },
            { type: "carry", params: ({ event }) => ({ part: event.parts[1] ?? "rest" }) },
            {
              type: "timer",
              params: ({ event }) => ({
                name: "bell",
                atMs: event.ringAtMs ?? event.nowMs + 10_000,
                event: { type: "bell.rang" },
                keep: true,
              }),
            },
          ],
        },
        "parcel.wait": {
          actions: { type: "timer", params: ({ event }) => ({ name: "wait", atMs: event.untilMs, event: { type: "wait.over" } }) },
        },
        "wait.over": { actions: assign({ idled: ({ context }) => context.idled + 1 }) },
        "parcel.discard": "discarded",
      },
    },
    sending: {
      on: {
        "part.sent": [
          {
            guard: ({ context }) => context.order.length === 1,
            target: "sent",
            actions: [
              { type: "journal", params: ({ event }) => ({ what: `sent ${event.part}` }) },
              assign({
                results: ({ context, event }) => ({ ...context.results, [event.part]: (context.results[event.part] ?? 0) + 1 }),
                order: ({ context, event }) => [...context.order, event.part],
              }),
            ],
          },
          {
            actions: [
              { type: "journal", params: ({ event }) => ({ what: `sent ${event.part}` }) },
              assign({
                results: ({ context, event }) => ({ ...context.results, [event.part]: (context.results[event.part] ?? 0) + 1 }),
                order: ({ context, event }) => [...context.order, event.part],
              }),
            ],
          },
        ],
        "carry.exhausted": { target: "lost", actions: assign({ reason: ({ event }) => event.reason }) },
        "parcel.recall": "recalled",
        "parcel.discard": "discarded",
      },
    },
    sent: {},
    lost: {},
    recalled: {},
    discarded: { tags: "removed", entry: { type: "journal", params: { what: "discarded" } } },
  },
});

export const parcelRecord = defineRecord<ActorRecord<ParcelContext>>({
  name: "parcel",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.id,
  indexes: ({ id, state }) => [["parcel.state", String(state), id]],
});

export const journalOf = (id: string) => `journal/${id}`;

/** What a fact of the machine writes: a line of the actor's journal, such as `noted 3`. */
export function toJournal({ next, params }: RecordedFact<ParcelContext>): LogWrite {
  const line = `${(params as { what: string }).what} ${next.context.notes}`;
  return { op: "append", log: journalOf(next.id), entries: [new TextEncoder().encode(line)] };
}

export type ParcelKind = ActorKind<ParcelContext, ParcelEvent, "carry">;

export function createParcelKind(
  carry: RunEffect<ParcelContext, ParcelEvent>,
  { committed, ...options }: Pick<ParcelKind, "backoffMs" | "maxInFlight" | "lane" | "facts"> & ProvideOptions<ParcelContext> = {},
): { readonly kind: ParcelKind; readonly provided: ProvidedKind } {
  const kind: ParcelKind = {
    name: "parcel",
    machine: parcelMachine,
    machineVersion: 1,
    record: parcelRecord,
    effects: ["carry"],
    facts: { journal: (unit, fact) => unit.log(toJournal(fact)) },
    commands: ["parcel.send", "parcel.note", "parcel.wait", "parcel.discard"],
    ...options,
  };
  return { kind, provided: provide(kind, { carry }, committed === undefined ? {} : { committed }) };
}
