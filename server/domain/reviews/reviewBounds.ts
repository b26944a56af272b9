/** Checks the texts of a review against the limits, and who may change them. */
import type { Limits } from "../../../api/limits.ts";
import type { Author } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { CreateReviewRequest } from "../../../api/schema/review.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { DocumentWriting } from "../articles/port.ts";
import type { Call } from "../call/call.ts";
import { principalOf } from "../call/principal.ts";
import { roleIn } from "../identity/workspaces/access.ts";
import { workspaceRecord } from "../identity/workspaces/records.ts";
import { mentionedIn, type ReviewRecord } from "./records.ts";

function invalid(field: string, code: string, message: string): AppError {
  const errors = [{ pointer: `/${field.replace(".", "/")}`, code, message }];
  return new AppError("validation_failed", `The field ${field} ${message}.`, { errors });
}

/**
 * Checks what the schema of a new review cannot: the fields that belong to its kind, the lengths that the settings may
 * change, and that text for the document can be stored there. Throws `validation_failed` and `content_not_accepted`.
 */
export function checkCreateRequest(
  { kind = "comment", anchor, replacement }: CreateReviewRequest,
  limits: Pick<Limits, "body.prose">,
  { toAcceptable }: Pick<DocumentWriting, "toAcceptable">,
): void {
  if (kind === "suggestion" && anchor === undefined) throw invalid("anchor", "required", "is needed by a suggestion");
  if (kind === "suggestion" && replacement === undefined) throw invalid("replacement", "required", "is needed by a suggestion");
  if (kind === "comment" && replacement !== undefined) throw invalid("replacement", "not_allowed", "is allowed with kind suggestion only");
  const quote = anchor !== undefined && "quote" in anchor ? anchor.quote : undefined;
  const most = limits["body.prose"];
  if ((quote?.length ?? 0) > most) throw invalid("anchor.quote", "too_big", `must have at most ${most} characters`);
  if (anchor !== undefined && "start" in anchor && anchor.end - anchor.start > most) {
    throw invalid("anchor.end", "too_big", `must be at most ${most} characters after 'start'`);
  }
  if ((replacement?.length ?? 0) > most) throw invalid("replacement", "too_big", `must have at most ${most} characters`);
  for (const [field, text] of Object.entries({ replacement, "anchor.quote": quote })) {
    if (text === undefined || toAcceptable(text) === text) continue;
    throw new AppError("content_not_accepted", `'${field}' must not contain NUL characters or unpaired surrogates.`);
  }
}

/** A suggestion that changes nothing could be accepted without an edit, so it is refused. */
export function checkReplacement(quote: string | undefined, replacement: string | undefined): void {
  if (quote !== undefined && quote === replacement) throw invalid("replacement", "unchanged", "must differ from the quoted text");
}

/** Throws `limit_reached` for a review that has become too large, and `validation_failed` for one that mentions too many accounts. */
export function checkBounds({ context }: ReviewRecord, limits: Pick<Limits, "review.bytes" | "review.mentions">): void {
  if (mentionedIn(context).size > limits["review.mentions"]) {
    throw invalid("body", "too_many_handles", `mentions too many: a review mentions at most ${limits["review.mentions"]} accounts`);
  }
  if (Buffer.byteLength(JSON.stringify(context)) <= limits["review.bytes"]) return;
  const detail = `A review with its replies has at most ${limits["review.bytes"]} bytes as JSON (review.bytes). Begin another one.`;
  throw new AppError("limit_reached", detail);
}

/** Throws `insufficient_permission` unless the caller is the author of the text. An API key acts for its account. */
export function requireAuthor(call: Pick<Call, "principal">, author: Author, what: string): void {
  if (principalOf(call).username === author.username) return;
  throw new AppError("insufficient_permission", `Only the author may ${what}.`);
}

/** Throws `insufficient_permission` unless the caller is the author of the text or administers the workspace. */
export async function requireAuthorOrAdmin(
  storage: Pick<Storage, "records">,
  call: Pick<Call, "principal">,
  { workspaceId, author }: { readonly workspaceId: string; readonly author: Author },
  what: string,
): Promise<void> {
  const { username, accountId } = principalOf(call);
  if (username === author.username) return;
  const workspace = await storage.records.get(workspaceRecord, workspaceId);
  const role = workspace === undefined ? undefined : roleIn(workspace.value, accountId);
  if (role === "admin" || role === "owner") return;
  throw new AppError("insufficient_permission", `Only the author and administrators may ${what}.`);
}
