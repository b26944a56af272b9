/**
 * The tRPC v11 router of the contract, as a type: what a stock `@trpc/client` infers from. Requests are served by
 * the server's one wrapper; no procedure object exists at run time.
 */
import type { TRPCBuiltRouter, TRPCMutationProcedure, TRPCQueryProcedure } from "@trpc/server";
import type { AppContract } from "../contract/contract.ts";
import type { Contract, InputOf, OperationSpec, OutputOf } from "../operation.ts";
import type { Problem, TrpcErrorKey } from "../schema/error.ts";

/** The `error` of a tRPC answer. `data.problem` is what REST would have answered. */
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

export type RouterOf<C extends Contract> = TRPCBuiltRouter<
  RootTypes,
  { [Resource in keyof C]: { [Name in keyof C[Resource]]: ProcedureOf<C[Resource][Name]> } }
>;

export type AppRouter = RouterOf<AppContract>;
