/**
 * The parts of the order of refusals that need nobody else: scope, visibility of impossible ids, role, query and body.
 * Each either gives a value or refuses.
 */
import type { RateCondition } from "../../api/operation.ts";
import { AppError, notFound } from "../../api/schema/error.ts";
import { missingScopes } from "../../api/scopes.ts";
import type { Access, Principal } from "./call.ts";
import { parsePart } from "./findings.ts";
import { type PreparedOperation, type PreparedRequest, rankOf } from "./preparedOperation.ts";
import type { CallSource } from "./wrapper.ts";

export function requireSize(operation: PreparedOperation, source: CallSource): void {
  if (!source.tooLarge) return;
  throw new AppError("payload_too_large", `The body of ${operation.key} may have at most ${operation.maxBodyBytes} bytes.`);
}

export function requireScope(operation: PreparedOperation, principal: Principal): void {
  const { credential, scopes = [] } = operation.spec;
  if (principal.kind === "key") {
    if (credential !== "any") {
      throw new AppError("interactive_session_required", "This needs a signed-in person's access token; an API key is not enough.");
    }
    const missing = missingScopes(principal.scopes, scopes);
    if (missing.length > 0) {
      const detail = `This API key lacks the scope${missing.length === 1 ? "" : "s"} ${missing.join(", ")}.`;
      throw new AppError("insufficient_scope", detail, { requiredScopes: [...scopes], missingScopes: [...missing] });
    }
  }
  if (credential === "operator" && !principal.operator) {
    throw new AppError("insufficient_permission", "This needs the account of an operator.");
  }
}

export function requireRole(operation: PreparedOperation, access: Access): void {
  if (rankOf(access.role) >= operation.roleRank) return;
  const role = operation.spec.role ?? "read";
  if (role === "write") throw new AppError("insufficient_permission", "This needs permission to write in the workspace.");
  throw new AppError("insufficient_role", `This needs the role ${role === "owner" ? "owner" : "admin or owner"} in the workspace.`);
}

const noFields: Record<string, unknown> = Object.freeze({});

/** The parts of one input, each parsed when its turn comes and only once. */
export class ParsedRequest implements PreparedRequest {
  params = noFields;
  query = noFields;
  body: unknown = undefined;
  accept = "application/json";
  // Not part of what a handler sees.
  readonly #operation: PreparedOperation;
  readonly #source: CallSource;
  #queryParsed = false;
  #bodyParsed = false;
  #bodyFault: AppError | undefined;

  constructor(operation: PreparedOperation, source: CallSource) {
    this.#operation = operation;
    this.#source = source;
  }

  /** An id that cannot exist is an id that does not exist. */
  readParams(): void {
    if (this.#operation.params === undefined) return;
    const parsed = this.#operation.params.safeParse(this.#source.params());
    if (!parsed.success) throw notFound();
    this.params = parsed.data;
  }

  /** The id of the resource; where it stands in the query or the body, that part is parsed for it. */
  readResourceId(resource: NonNullable<PreparedOperation["spec"]["resource"]>): string {
    if (resource.in === "query") this.#readQuery();
    if (resource.in === "body") this.#readBody();
    const id = (this[resource.in] as Record<string, unknown>)[resource.name];
    if (typeof id !== "string") throw new Error(`operation ${this.#operation.key}: its resource id is no text`);
    return id;
  }

  /** Whether the body, which is parsed for it, is so. What is wrong with it is told when its turn comes. */
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
    if (this.#bodyFault !== undefined) throw this.#bodyFault;
    if (!this.#bodyParsed) this.#readBody();
    if (this.#operation.negotiable !== undefined) this.accept = this.#source.accept();
  }

  #readQuery(): void {
    this.#queryParsed = true;
    this.query = parsePart(this.#operation.query, this.#source.query(), "query");
  }

  #readBody(): void {
    this.#bodyParsed = true;
    const operation = this.#operation;
    if (operation.body === undefined && operation.rawBodies.length === 0) return;
    const body = this.#source.body();
    if ("raw" in body) this.body = body.raw;
    else if (operation.body === undefined) throw new Error(`operation ${operation.key} takes no JSON body`);
    else this.body = parsePart(operation.body, body.json, "body", operation);
  }
}
