/**
 * ErrorTexts describes for each error code, in words for people, what happened and what to do about it.
 *
 * The pages under /problems show these texts. A code without a text does not compile. A problem's own `detail` names
 * the exact field, value or limit; the sentences here must be correct for every use of the code. Text between backticks
 * is code.
 */
import type { ErrorCode } from "./error.ts";

/**
 * Codes that appear only inside results (the failure of a run, a job, a conversion) and are never the answer to a
 * request.
 */
export const resultCodes = ["conversion_failed", "budget_exhausted", "approval_rejected", "step_failed"] as const;
export type ResultCode = (typeof resultCodes)[number];

export interface ErrorText {
  readonly happened: string;
  readonly remedy: string;
}

export const errorTexts: Readonly<Record<ErrorCode | ResultCode, ErrorText>> = {
  bad_request: {
    happened: "A header, the path, the query or the combination of them contradicts itself or cannot be read.",
    remedy: "Correct the part that `detail` names, for example send one credential instead of two, and send the request again.",
  },
  malformed_json: {
    happened: "The body is not valid JSON; `detail` says at which position reading stopped.",
    remedy: "Build the body with a JSON library instead of by hand, and check the quoting of your shell.",
  },
  invalid_next_token: {
    happened: "The `nextToken` has expired, was changed, or belongs to a list with other filters or another order.",
    remedy: "Start again from the first page, and send each token with the same parameters as the page that gave it.",
  },
  unknown_api_version: {
    happened: "The header `x-svc-api-version` names a version that this server does not have.",
    remedy: "Leave the header out, or send the version that `detail` names.",
  },
  unauthenticated: {
    happened: "The request has no credential, or one that this server does not accept: unknown, damaged or from an ended session.",
    remedy: "Send an API key as `x-api-key`, or an access token of `POST /auth/token` as `Authorization: Bearer`.",
  },
  token_expired: {
    happened: "The access token, refresh token or stream ticket is past its lifetime.",
    remedy: "Exchange the refresh token at `POST /auth/token`, or get a new ticket at `POST /auth/stream-ticket`.",
  },
  key_expired: {
    happened: "The API key has reached the time `expiresAt` that it was made with.",
    remedy: "Make a new key at `POST /api-keys` and replace the old one where it is used.",
  },
  key_revoked: {
    happened: "The API key was revoked, and a revoked key never works again.",
    remedy: "Ask its owner why; then make a new key and delete the old one from your configuration.",
  },
  insufficient_scope: {
    happened: "The API key is valid but lacks a scope that this operation needs; `missingScopes` lists them.",
    remedy: "Use a key that has every scope of `requiredScopes`; the scopes of an existing key cannot be changed.",
  },
  insufficient_role: {
    happened: "Your role in this workspace does not allow this operation.",
    remedy: "Ask an owner or admin of the workspace to do it, or to give you the role that `detail` names.",
  },
  insufficient_permission: {
    happened: "The credential may not do this to this resource: it can only read it, or a limit of the credential excludes it.",
    remedy: "Ask for write permission in the workspace, or use a credential without the limit that `detail` names.",
  },
  interactive_session_required: {
    happened: "Only a signed-in person may do this; no API key is enough, whatever its scopes.",
    remedy: "Sign in at `POST /auth/token` with the password grant and send the access token.",
  },
  scope_escalation: {
    happened: "An API key tried to make a key that can do more than itself: more scopes, more workspaces or a longer life.",
    remedy: "Narrow the new key to what the calling key has, or make it from a signed-in session.",
  },
  workflow_read_only: {
    happened: "The workflow belongs to the system and cannot be changed or deleted.",
    remedy: "Make a workflow of your own with the steps that you want, and change that one.",
  },
  not_found: {
    happened: "Nothing is at this address, or this credential may not see it; the two look alike on purpose.",
    remedy: "Check the id and the path, then check that the account or key has access to the workspace.",
  },
  not_published: {
    happened: "The article has no public link, so there is nothing to read, change or take down.",
    remedy: "Publish the article first with `PUT /articles/{articleId}/public-link`.",
  },
  method_not_allowed: {
    happened: "The address exists but does not take this HTTP method.",
    remedy: "Use one of the methods that the answer's header `Allow` lists.",
  },
  not_acceptable: {
    happened: "The header `Accept` excludes every media type that this resource has.",
    remedy: "Ask for one of the media types that `detail` lists, or leave the header out.",
  },
  revision_conflict: {
    happened: "The revision that the change was based on is no longer the newest, or can no longer be merged from.",
    remedy: "Read the resource again, apply your change to `currentRevision`, and send that revision with it.",
  },
  invalid_transition: {
    happened: "The resource is in a state (`currentState`) from which this step does not exist.",
    remedy: "Take one of the steps in `allowed`, or wait until the resource has reached another state.",
  },
  run_in_progress: {
    happened: "The topic already has a run that is queued, running or waiting for a decision.",
    remedy: "Wait for the run `activeRunId` to end, decide what it waits for, or cancel it.",
  },
  approval_already_resolved: {
    happened: "The approval was decided before this decision arrived, and a decision is final.",
    remedy: "Read the approval to see who decided what; to change the outcome, start a new run.",
  },
  already_exists: {
    happened: "What the request would create is already there, for example the account, the member or the link.",
    remedy: "Use the existing one, or create yours under another name or id.",
  },
  name_taken: {
    happened: "The name or slug belongs to something else where it has to be unique.",
    remedy: "Choose another name, or rename the one that has it.",
  },
  limit_reached: {
    happened: "The account or workspace already has as many of these as it may have at once.",
    remedy: "Delete or revoke one that is no longer needed, or ask the operator to raise the limit that `detail` names.",
  },
  key_active: {
    happened: "The API key still works, and only a key that no longer works can be deleted.",
    remedy: "Revoke it at `POST /api-keys/{keyId}/revoke`, then delete it.",
  },
  last_owner: {
    happened: "The change would leave the workspace without an owner.",
    remedy: "Leave the owner as it is: a workspace keeps the account that made it as its owner, and only other members can be changed.",
  },
  folder_not_empty: {
    happened: "The folder still holds articles or other folders.",
    remedy: "Move or delete what is in it, or delete the folder with `recursive=true`.",
  },
  cycle: {
    happened: "The folder would become a folder inside itself.",
    remedy: "Choose a parent that is neither the folder itself nor below it.",
  },
  public_link_wrong_mode: {
    happened: "The operation belongs to the other mode of a public link: a Snapshot is refreshed, a Live page is synchronized.",
    remedy: "Use the operation of the mode in `currentState`, or switch the mode with `PATCH /articles/{articleId}/public-link`.",
  },
  anchor_orphaned: {
    happened: "The text that the suggestion refers to is no longer in the article, so there is nothing to replace.",
    remedy: "Make the change by hand where it belongs now, or reject the suggestion.",
  },
  not_ready: {
    happened: "The result does not exist yet because the work behind it is still queued or running.",
    remedy: "Read the job or conversion until its status is `succeeded`, then ask for the result.",
  },
  needs_connection: {
    happened: "The workspace is not connected to the external service that this operation reads from.",
    remedy: "Ask an admin of the workspace to store a credential for that integration.",
  },
  needs_resource: {
    happened: "The integration is connected, but nobody has chosen which of its sites or properties to use.",
    remedy: "List the integration's resources and choose one.",
  },
  idempotency_in_progress: {
    happened: "The first request with this `Idempotency-Key` is still being worked on.",
    remedy: "Repeat the same request after `Retry-After` seconds to get the first one's answer.",
  },
  unpublished: {
    happened: "The page was public, and its authors took it down.",
    remedy: "Ask the authors; if they publish the article again, it returns to the same address.",
  },
  output_expired: {
    happened: "The output was made, but its storage time is over and it was deleted.",
    remedy: "Run the conversion again and download the output before its `expiresAt`.",
  },
  approval_expired: {
    happened: "Nobody decided in time: the run went on without a decision, or it ended first.",
    remedy: "Read the run to see how it continued. If its result is not what you want, retry the run or start a new one.",
  },
  link_expired: {
    happened: "The setup link or invitation was used before, is past its lifetime, or was withdrawn.",
    remedy: "Ask the person who sent it for a new one; for the first account, start the server again to get a new link.",
  },
  revision_gone: {
    happened: "The revision was never committed, and its text is no longer kept.",
    remedy: "Use a committed revision from `GET /articles/{articleId}/commits`, or the newest one.",
  },
  precondition_failed: {
    happened: "The resource was changed after you read the ETag that `If-Match` carries, or there is nothing to match.",
    remedy: "Read the resource again, look at what changed, and repeat the request with the new ETag.",
  },
  payload_too_large: {
    happened: "The body or the update has more bytes than one request may have.",
    remedy: "Send less at once: split the change into several requests below the limit that `detail` names.",
  },
  content_too_large: {
    happened: "A text or document is larger than it may be, would become so, or is too large for this operation.",
    remedy: "Shorten the text or split it into several articles; `docs/limits.md` lists the sizes.",
  },
  edit_too_complex: {
    happened: "Working out the edit took longer than the server allows, although its text is not too large. Nothing was written.",
    remedy: "Send fewer edits in one request, and `find` texts that are long enough to occur only once.",
  },
  unsupported_media_type: {
    happened: "The operation does not read bodies of this `Content-Type`, or does not convert between these two formats.",
    remedy: "Send one of the types that `detail` or the answer's header `Accept` lists, usually `application/json`.",
  },
  validation_failed: {
    happened: "At least one value does not fit the schema: it is missing, of the wrong type, or out of its range.",
    remedy: "Correct each value in `errors`, where `pointer` says where it is and `message` what would be right.",
  },
  unknown_field: {
    happened: "The request has a field or parameter that this operation does not have, often a misspelled one.",
    remedy: "Remove or rename the fields that `errors` points to; parameters of the path or query do not belong in the body.",
  },
  url_not_https: {
    happened: "The URL does not begin with `https://`, and the server calls no other URLs.",
    remedy: "Give the receiver a certificate and send its https URL.",
  },
  url_not_public: {
    happened: "The host of the URL has a private, local or reserved address, or the port is one that the server never calls.",
    remedy: "Use a publicly reachable host; an operator can allow an internal network with `OUTBOUND_ALLOW_CIDRS`.",
  },
  url_unresolvable: {
    happened: "The host name of the URL has no address in DNS.",
    remedy: "Check the spelling of the host and that its DNS record is published, then try again.",
  },
  anchor_not_found: {
    happened: "The quoted text or heading does not occur in the article.",
    remedy: "Read the newest text and quote it exactly, including spaces and punctuation.",
  },
  anchor_ambiguous: {
    happened: "The quoted text or heading occurs more than once, so the place is not certain.",
    remedy: "Add `prefix` and `suffix`, or say which `occurrence` you mean.",
  },
  gate_failed: {
    happened: "The article did not pass the checks that its publish gate demands, so the public page was left as it was.",
    remedy: "Correct the findings in `errors`, or set the gate of the link to `warn` or `off`.",
  },
  content_not_accepted: {
    happened: "The content holds something that a document here cannot keep, such as another kind of Yjs type or broken Unicode.",
    remedy: "Write plain Markdown text into `content.md`, `outline.md` or `research.md` and nothing else.",
  },
  idempotency_key_reused: {
    happened: "This `Idempotency-Key` was used before for a request with another body.",
    remedy: "Use a new key for each new request, and repeat a key only with exactly the same request.",
  },
  precondition_required: {
    happened: "The change could overwrite what others wrote, because it does not say which revision it was made from.",
    remedy: "Read the text, then send its revision as `baseRevision`.",
  },
  rate_limited: {
    happened: "This credential, or this address, has sent more requests than its rate allows.",
    remedy: "Wait as long as `Retry-After` says, then go on more slowly; the header `RateLimit` shows what is left.",
  },
  provider_quota: {
    happened: "The external service behind this operation refuses further requests for now.",
    remedy: "Try again when its quota is renewed, or raise the quota with that provider.",
  },
  internal: {
    happened: "The server failed in a way that was not foreseen; the request may or may not have taken effect.",
    remedy: "Tell the operator the `requestId`, under which the log has the reason, and read the resource before you repeat.",
  },
  provider_unavailable: {
    happened:
      "An external service that this needs is not configured, did not answer or answered with an error, or this version cannot run steps of this type.",
    remedy:
      "Check that the provider is configured and reachable, then start the operation or the run again. A step type that `message` names needs a version that can run it.",
  },
  unavailable: {
    happened: "The server cannot do this at the moment: it is starting, stopping, overloaded or cut off from its store.",
    remedy: "Repeat the request after `Retry-After` seconds, with the same `Idempotency-Key` if it had one.",
  },
  disk_full: {
    happened: "The server's disk has no room left, so it takes no writes; reading goes on.",
    remedy: "Nothing of the request was stored; repeat it once the operator has freed disk space.",
  },
  conversion_failed: {
    happened: "The document could not be converted: it is damaged, encrypted, too complex or took too long.",
    remedy: "Open the file in its own program, save it again in a plain form, and convert that.",
  },
  budget_exhausted: {
    happened: "The run would have spent more tokens, money or time than its budget allows.",
    remedy: "Start a new run with a larger budget or with fewer steps.",
  },
  approval_rejected: {
    happened: "A person rejected the output of a step, which ends the run.",
    remedy: "Read the reviewer's note in the failure's `message`, then start a new run with better instructions.",
  },
  step_failed: {
    happened: "A step of the run could not produce a usable result, and its attempts are used up.",
    remedy: "Read `message` for the reason; if `retryable` is true, a new run may succeed without any change.",
  },
};
