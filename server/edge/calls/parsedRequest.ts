/**
 * ParsedRequest parses path ids, query and body of one call against its operation, each at most once.
 *
 * The parts are parsed when they are first needed, because an earlier check may need one of them. A part that does not
 * fit throws the `AppError` of its refusal. If an earlier check needs one field of a part, and only other fields of the
 * part are invalid, `readRest` throws the refusal instead. The order of the checks is decided in `wrapper.ts`.
 */
import type { ParsedForm, RateCondition } from "../../../api/contract/operation.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import { parsePart } from "../../domain/call/findings.ts";
import type { CallSource } from "./callSource.ts";
import type { FormParts } from "./formBody.ts";
import type { PreparedOperation, PreparedRequest } from "./preparedOperation.ts";

type ResourceRule = NonNullable<PreparedOperation["spec"]["resource"]>;

const noFields: Record<string, unknown> = Object.freeze({});
const onlyJson: readonly string[] = Object.freeze(["application/json"]);

export class ParsedRequest implements PreparedRequest {
  params = noFields;
  query = noFields;
  body: unknown = undefined;
  accept: readonly string[] = onlyJson;
  refreshCookie: string | undefined = undefined;
  // Private, because handlers receive this object as their request.
  readonly #operation: PreparedOperation;
  readonly #source: CallSource;
  #queryParsed = false;
  #bodyParsed = false;
  #queryFault: AppError | undefined;
  #bodyFault: AppError | undefined;

  constructor(operation: PreparedOperation, source: CallSource) {
    this.#operation = operation;
    this.#source = source;
  }

  /** Parses the path parameters. Throws `not_found` for a malformed id, the same answer as for an id that does not exist. */
  readParams(): void {
    if (this.#operation.params === undefined) return;
    const parsed = this.#operation.params.safeParse(this.#source.params());
    if (!parsed.success) throw notFound();
    this.params = parsed.data;
  }

  /**
   * Returns the id of the resource. Parses the query or the body first if the id is there. Faults of other fields are
   * thrown by `readRest`, because a caller that cannot see the resource gets 404 whatever these fields are (API2).
   */
  readResourceId(resource: ResourceRule): string {
    try {
      if (resource.in === "query") this.#readQuery();
      if (resource.in === "body") this.#readBody();
    } catch (reason) {
      const own = ["", `/${resource.name}`];
      const isOfOthers = reason instanceof AppError && reason.facts.errors?.every(({ pointer }) => !own.includes(pointer));
      if (isOfOthers !== true) throw reason;
      if (resource.in === "query") this.#queryFault = reason;
      else this.#bodyFault = reason;
      return this.#readRawId(resource);
    }
    const id = (this[resource.in] as Record<string, unknown>)[resource.name];
    if (typeof id !== "string") throw new Error(`operation ${this.#operation.key}: its resource id is not a string`);
    return id;
  }

  /**
   * Evaluates `rateWhen` against the parsed body. An invalid body gives false here; `readRest` throws its error later,
   * so that the order of refusals is kept.
   */
  bodyIs(condition: RateCondition): boolean {
    try {
      this.#readBody();
    } catch (reason) {
      if (!(reason instanceof AppError)) throw reason;
      this.#bodyFault = reason;
      return false;
    }
    const body = this.body as Readonly<Record<string, unknown>>;
    return "is" in condition ? body[condition.name] === condition.is : condition.anyOf.some((name) => body[name] !== undefined);
  }

  readRest(): void {
    if (!this.#queryParsed) this.#readQuery();
    if (this.#queryFault !== undefined) throw this.#queryFault;
    if (this.#bodyFault !== undefined) throw this.#bodyFault;
    if (!this.#bodyParsed) this.#readBody();
    if (this.#operation.negotiable !== undefined) this.accept = this.#source.accept();
  }

  /** The request has no body afterwards. */
  releaseBody(): void {
    this.body = undefined;
    this.#source.releaseBody();
  }

  /** Reads the id from a part whose other fields are invalid. */
  #readRawId({ in: place, name }: ResourceRule): string {
    const body = place === "body" ? this.#source.body() : undefined;
    const fields = body === undefined ? this.#source.query() : "json" in body ? (body.json as Readonly<Record<string, unknown>>) : {};
    const id = fields[name];
    if (typeof id !== "string") throw notFound();
    return id;
  }

  #readQuery(): void {
    this.#queryParsed = true;
    this.query = parsePart(this.#operation.query, this.#source.query(), "query");
  }

  #readBody(): void {
    this.#bodyParsed = true;
    const operation = this.#operation;
    if (!operation.takesJson && operation.rawBodies.length === 0) return;
    const body = this.#source.body();
    if ("raw" in body) this.body = body.raw;
    else if ("form" in body) this.body = parseForm(operation, body.form);
    else if (operation.body === undefined) throw new Error(`operation ${operation.key} takes no JSON body`);
    else this.body = parsePart(operation.body, body.json, "body", operation);
  }
}

function parseForm({ key, form }: PreparedOperation, { file, fields }: FormParts): ParsedForm<Record<string, unknown>> {
  if (form === undefined) throw new Error(`operation ${key} takes no form`);
  return { file, fields: parsePart(form.fields, fields, "body") };
}
