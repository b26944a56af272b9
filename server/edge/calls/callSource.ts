/** CallSource defines how a surface (REST, tRPC) supplies the input of one call to the call wrapper. */
import type { BodyOwner } from "./bodyBudget.ts";
import type { FormParts } from "./formBody.ts";
import type { RequestContext } from "./requestContext.ts";

/** Source of the input of one call. The wrapper reads each part when it is needed. Each method may throw a refusal. */
export interface CallSource {
  readonly context: RequestContext;
  /** True if the body has more than `maxBodyBytes`, by its declared length or by the bytes received. */
  readonly tooLarge: boolean;
  /** The limit of the body. That of a form differs from that of JSON. */
  readonly maxBodyBytes: number;
  /** When the body must be received: `early` if a check before the body step needs it, for example for the resource id. */
  readonly bodyNeeded: "never" | "early" | "last";
  /**
   * Reads the body from the network; undefined if it is never needed. The bytes count against `owner`.
   * Rejects with `unavailable` if there is no room for them, or with `ClientGone`.
   */
  receiveBody(owner: BodyOwner): Promise<void> | undefined;
  /** Returns the memory of the body. The source has no body afterwards. Further calls do nothing. */
  releaseBody(): void;
  params(): Readonly<Record<string, unknown>>;
  query(): Readonly<Record<string, unknown>>;
  /** JSON value that `guardJson` has checked, the parts of a form, or bytes with their media type. */
  body():
    | { readonly json: unknown }
    | { readonly form: FormParts }
    | { readonly raw: { readonly mediaType: string; readonly bytes: Uint8Array } };
  /** Offered media types that the caller accepts, the most preferred first. Refuses with 406 if there is none. */
  accept(): readonly string[];
}
