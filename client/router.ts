/**
 * The server's router as tRPC's own types describe it, for libraries such as `@trpc/tanstack-react-query`.
 *
 * These types need `skipLibCheck`, because the declarations of `@trpc/server` name packages that users need not have.
 * The other files of this package name no type of tRPC.
 */
import type { TRPCClient } from "@trpc/client";
import type { TRPCBuiltRouter, TRPCMutationProcedure, TRPCQueryProcedure, TRPCSubscriptionProcedure } from "@trpc/server";
import type { Api } from "./api.ts";
import type { Contract, ErrorShape } from "./contract.ts";

type Typed<O extends { readonly input: unknown; readonly output: unknown }> = {
  input: O["input"];
  output: O["output"];
  meta: object;
};

type ProcedureOf<O> = O extends { readonly kind: unknown; readonly input: unknown; readonly output: unknown }
  ? O["kind"] extends "query"
    ? TRPCQueryProcedure<Typed<O>>
    : O["kind"] extends "mutation"
      ? TRPCMutationProcedure<Typed<O>>
      : TRPCSubscriptionProcedure<Typed<O>>
  : never;

export type AppRouter = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: ErrorShape; transformer: false },
  { [Resource in keyof Contract]: { [Name in keyof Contract[Resource]]: ProcedureOf<Contract[Resource][Name]> } }
>;

/** Returns the client of an Api with the types of tRPC. */
export function toTrpcClient(api: Api): TRPCClient<AppRouter> {
  return api.trpc as unknown as TRPCClient<AppRouter>;
}
