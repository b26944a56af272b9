/**
 * `TrpcSource` supplies the input of one call of a tRPC request.
 *
 * The input comes from the query parameter `input` (GET) or from the body (POST), which all calls of a batch share.
 */
import type { InputParts } from "../../../api/derive/input.ts";
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { HttpRequest } from "../host/port.ts";
import type { BodyOwner } from "./bodyBudget.ts";
import { guardJson } from "./bodyGuard.ts";
import type { CallSource } from "./callSource.ts";
import type { IncomingBody } from "./incomingBody.ts";
import { parseJson, readJson } from "./jsonBody.ts";
import { readContentType, requireNoEncoding } from "./mediaTypes.ts";
import type { PreparedOperation } from "./preparedOperation.ts";
import type { RequestContext } from "./requestContext.ts";

/** The inputs of the calls of one request. */
export interface Inputs {
  /** Returns the input of the call with this index. Throws a refusal if the input of the request cannot be parsed. */
  of(index: number): unknown;
  /** To be called once for each call, when it no longer needs its input. After the last call the memory is returned. */
  release(): void;
}

export function toInputs(
  request: HttpRequest,
  text: string | undefined,
  body: IncomingBody | undefined,
  isBatch: boolean,
  maxMembers: number,
  calls: number,
): Inputs {
  let callsLeft = calls;
  /** Parsed input or its refusal, kept because each call of a batch needs it. */
  let whole: { readonly value: unknown } | { readonly refusal: unknown } | undefined;
  const read = (): unknown => {
    if (body === undefined) return text === undefined || text === "" ? undefined : parseJson(text, "query parameter input");
    if (body.bytes.length === 0) return undefined;
    requireNoEncoding(request.header("content-encoding"));
    if (readContentType(request.header("content-type")) !== "application/json") {
      throw new AppError(
        "unsupported_media_type",
        "The content-type of the body must be application/json.",
        {},
        { accept: "application/json" },
      );
    }
    return readJson(body.bytes, maxMembers);
  };
  const readOnce = (): { readonly value: unknown } | { readonly refusal: unknown } => {
    try {
      return { value: read() };
    } catch (refusal) {
      return { refusal };
    }
  };
  return {
    of(index) {
      whole ??= readOnce();
      if ("refusal" in whole) throw whole.refusal;
      if (!isBatch || whole.value === undefined) return whole.value;
      if (typeof whole.value !== "object" || whole.value === null) {
        throw new AppError("bad_request", "The input of a batch must be an object from the index of each call to its input.");
      }
      return (whole.value as Record<string, unknown>)[index];
    },
    release() {
      callsLeft -= 1;
      if (callsLeft > 0) return;
      whole = undefined;
      body?.release();
    },
  };
}

export class TrpcSource implements CallSource {
  readonly context: RequestContext;
  private readonly operation: PreparedOperation;
  private readonly inputs: Inputs;
  private readonly index: number;
  private readonly limits: Limits;
  private readonly incoming: IncomingBody | undefined;
  private taken: InputParts | undefined;
  private isReleased = false;

  constructor(
    operation: PreparedOperation,
    context: RequestContext,
    inputs: Inputs,
    index: number,
    limits: Limits,
    incoming: IncomingBody | undefined,
  ) {
    this.operation = operation;
    this.context = context;
    this.inputs = inputs;
    this.index = index;
    this.limits = limits;
    this.incoming = incoming;
  }

  get tooLarge(): boolean {
    return this.incoming?.tooLarge === true;
  }

  get maxBodyBytes(): number {
    return this.incoming?.maxBytes ?? this.operation.maxBodyBytes;
  }

  /** A body is needed early, because it also contains the path and query fields. */
  get bodyNeeded(): CallSource["bodyNeeded"] {
    return this.incoming === undefined ? "never" : "early";
  }

  receiveBody(owner: BodyOwner): Promise<void> | undefined {
    return this.incoming?.receive(owner);
  }

  releaseBody(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.taken = undefined;
    this.inputs.release();
  }

  private get parts(): InputParts {
    this.taken ??= this.take();
    return this.taken;
  }

  private take(): InputParts {
    const { operation, limits } = this;
    const input = this.inputs.of(this.index) ?? {};
    if (typeof input !== "object" || Array.isArray(input)) {
      const message = "must be an object";
      throw new AppError("validation_failed", `The input ${message}.`, { errors: [{ pointer: "", code: "invalid_type", message }] });
    }
    guardJson(input, { limits, documentText: operation.spec.documentText === true, freeForm: operation.freeForm });
    return operation.split(input as Record<string, unknown>);
  }

  params(): Record<string, unknown> {
    return this.parts.params;
  }

  query(): Record<string, unknown> {
    return this.parts.query;
  }

  body(): { readonly json: unknown } {
    return { json: this.parts.body };
  }

  accept(): readonly string[] {
    return [this.operation.negotiable?.json ?? "application/json"];
  }
}
