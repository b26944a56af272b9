/**
 * The types of the server's operations, from which the client is typed.
 *
 * This is the only file of the client that names the repository's other folders. The build replaces it by a declaration
 * file that imports nothing (`test/support/clientTypes.ts`), so users need neither these sources nor their dependencies.
 */
import type { AppRouter, TrpcErrorShape } from "../api/derive/trpc.ts";

type Resources = AppRouter["_def"]["record"];

/** Maps `resource.name`, as in the `operationId` of the OpenAPI document, to the kind, input and output of the operation. */
export type Contract = {
  readonly [Resource in keyof Resources]: {
    readonly [Name in keyof Resources[Resource]]: Resources[Resource][Name] extends {
      readonly _def: { readonly type: infer Kind; readonly $types: { readonly input: infer Input; readonly output: infer Output } };
    }
      ? { readonly kind: Kind; readonly input: Input; readonly output: Output }
      : never;
  };
};

/** The error of a tRPC answer. */
export type ErrorShape = TrpcErrorShape;

/** The body of every refusal (RFC 9457). */
export type Problem = ErrorShape["data"]["problem"];
