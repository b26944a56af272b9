/**
 * Defines the tRPC v11 router of the contract as a type, from which a standard `@trpc/client` infers its types.
 *
 * One wrapper in the server handles the requests; no procedure object exists at run time.
 */
import type { TRPCBuiltRouter, TRPCMutationProcedure, TRPCQueryProcedure, TRPCSubscriptionProcedure } from "@trpc/server";
import type { z } from "zod";
import type { AppContract } from "../contract/contract.ts";
import type { Contract, InputOf, OperationSpec, OutputOf, StreamContract, StreamInputOf, StreamSpec } from "../contract/operation.ts";
import type { AppStreams } from "../contract/streams.ts";
import type { Problem, TrpcErrorKey } from "../schema/error.ts";
import type { StreamReset } from "../schema/timeline.ts";

/** The `error` of a tRPC answer. `data.problem` is the body that REST would have returned. */
export interface TrpcErrorShape {
  readonly message: string;
  /** JSON-RPC code. */
  readonly code: number;
  readonly data: {
    readonly code: TrpcErrorKey;
    readonly httpStatus: number;
    readonly path?: string;
    readonly problem: Problem;
  };
}

interface RootTypes {
  ctx: object;
  meta: object;
  errorShape: TrpcErrorShape;
  transformer: false;
}

type ProcedureOf<Spec extends OperationSpec> = Spec["method"] extends "GET"
  ? TRPCQueryProcedure<{ input: InputOf<Spec>; output: OutputOf<Spec>; meta: object }>
  : TRPCMutationProcedure<{ input: InputOf<Spec>; output: OutputOf<Spec>; meta: object }>;

/**
 * Sent by a subscription instead of the requested events if these are no longer kept. It contains the current state.
 */
export interface ResetNotice {
  readonly event: "stream.reset";
  readonly data: z.infer<typeof StreamReset>;
}

/** An event with its resume token. A client sends the token to continue after this event. */
interface Tracked<Data> {
  readonly id: string;
  readonly data: Data;
}

type SubscriptionOf<Spec extends StreamSpec> = TRPCSubscriptionProcedure<{
  input: StreamInputOf<Spec>;
  output: AsyncIterable<Tracked<z.output<Spec["event"]> | ResetNotice>, void, unknown>;
  meta: object;
}>;

/** Names of the operations that are procedures: those of the web session exist over REST only. */
type ProcedureName<Operations, Name extends keyof Operations> = Operations[Name] extends { readonly webSession: unknown } ? never : Name;

type Procedures<C extends Contract, S extends StreamContract> = {
  [Resource in keyof C]: {
    [Name in keyof C[Resource] as ProcedureName<C[Resource], Name>]: ProcedureOf<C[Resource][Name]>;
  } & (Resource extends keyof S ? { [Name in keyof S[Resource]]: SubscriptionOf<S[Resource][Name]> } : unknown);
};

export type RouterOf<C extends Contract, S extends StreamContract> = TRPCBuiltRouter<RootTypes, Procedures<C, S>>;

export type AppRouter = RouterOf<AppContract, AppStreams>;
