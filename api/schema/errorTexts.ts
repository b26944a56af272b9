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
    happened: "A header, the path or the query cannot be read, or the parts of the request contradict each other.",
    remedy: "Correct the part that `detail` names (for example, send one credential instead of two) and send the request again.",
  },
  malformed_json: {
    happened: "The body is not valid JSON; `detail` gives the position of the error.",
    remedy: "Build the body with a JSON library instead of by hand, and check the quoting of your shell.",
  },
  invalid_next_token: {
    happened: "The `nextToken` has expired, was changed, or belongs to a list with other filters or another order.",
    remedy: "Start again from the first page, and send each token with the parameters of the page that returned it.",
  },
  unknown_api_version: {
    happened: "The header `x-svc-api-version` names a version that this server does not support.",
    remedy: "Leave the header out, or send the version that `detail` names.",
  },
  unauthenticated: {
    happened:
      "The request has no credential, or the server does not accept the credential: it is unknown, damaged or from an ended session.",
    remedy: "Send an API key as `x-api-key`, or an access token of `POST /auth/token` as `Authorization: Bearer`.",
  },
  token_expired: {
    happened: "The access token, refresh token or stream ticket has expired.",
    remedy: "Exchange the refresh token at `POST /auth/token`, or get a new ticket at `POST /auth/stream-ticket`.",
  },
  key_expired: {
    happened: "The API key has passed its `expiresAt` time.",
    remedy: "Create a new key at `POST /api-keys` and replace the old key where it is used.",
  },
  key_revoked: {
    happened: "The API key was revoked, and a revoked key never works again.",
    remedy: "Ask the owner of the key for the reason; then create a new key and remove the old key from your configuration.",
  },
  insufficient_scope: {
    happened: "The API key is valid but lacks a scope that this operation needs; `missingScopes` lists them.",
    remedy: "Use a key that has every scope in `requiredScopes`; the scopes of an existing key cannot be changed.",
  },
  insufficient_role: {
    happened: "Your role in this workspace does not allow this operation.",
    remedy: "Ask an owner or admin of the workspace to do this, or to give you the role that `detail` names.",
  },
  insufficient_permission: {
    happened:
      "The credential does not allow this operation on this resource: it can only read the resource, or a limit of the credential excludes it. Or the request comes from a page of an origin that may not send it.",
    remedy:
      "Ask for write permission in the workspace, use a credential without the limit that `detail` names, or open the page at the address of the service.",
  },
  interactive_session_required: {
    happened: "Only a signed-in person may do this. An API key is not enough, whatever its scopes are.",
    remedy: "Sign in at `POST /auth/token` with a password and send the access token.",
  },
  scope_escalation: {
    happened: "An API key tried to create a key that can do more than itself: more scopes, more workspaces or a later expiry.",
    remedy: "Reduce the new key to the rights of the calling key, or create it in a signed-in session.",
  },
  workflow_read_only: {
    happened: "The workflow belongs to the system and cannot be changed or deleted.",
    remedy: "Create your own workflow with the steps that you need, and change that one.",
  },
  not_found: {
    happened: "There is no resource at this address, or this credential may not see it. Both cases have the same answer on purpose.",
    remedy: "Check the id and the path, then check that the account or key has access to the workspace.",
  },
  not_published: {
    happened: "The article has no public link, so there is no page to read, change or unpublish.",
    remedy: "Publish the article first with `PUT /articles/{articleId}/public-link`.",
  },
  method_not_allowed: {
    happened: "The address exists but does not support this HTTP method.",
    remedy: "Use one of the methods in the response header `Allow`.",
  },
  not_acceptable: {
    happened: "The header `Accept` excludes every media type of this resource.",
    remedy: "Request one of the media types that `detail` lists, or leave the header out.",
  },
  revision_conflict: {
    happened: "The change is based on a revision that is no longer the newest, or that can no longer be merged.",
    remedy: "Read the resource again, apply your change to `currentRevision`, and send that revision with the change.",
  },
  invalid_transition: {
    happened: "The resource is in a state (`currentState`) that does not allow this operation.",
    remedy: "Use one of the operations in `allowed`, or wait until the resource has reached another state.",
  },
  run_in_progress: {
    happened: "The topic already has a run that is queued, running or waiting for a decision.",
    remedy: "Wait until the run `activeRunId` ends, decide its approval, or cancel it.",
  },
  approval_already_resolved: {
    happened: "The approval was decided before this decision arrived, and a decision is final.",
    remedy: "Read the approval to see who decided what; to change the outcome, start a new run.",
  },
  already_exists: {
    happened: "The resource that the request would create already exists, for example the account, the member or the link.",
    remedy: "Use the existing resource, or create yours under another name or id.",
  },
  name_taken: {
    happened: "The name or slug must be unique, and another resource already has it.",
    remedy: "Choose another name, or rename the other resource.",
  },
  limit_reached: {
    happened: "The account, workspace, article or review already has the maximum number or size of these resources.",
    remedy: "Delete or revoke a resource that is no longer needed, or ask the operator to raise the limit that `detail` names.",
  },
  key_active: {
    happened: "The API key is active, and only a revoked or expired key can be deleted.",
    remedy: "Revoke it at `POST /api-keys/{keyId}/revoke`, then delete it.",
  },
  last_owner: {
    happened: "The change would leave the workspace without an owner.",
    remedy: "Keep the owner: the account that created a workspace stays its owner, and only other members can be changed.",
  },
  folder_not_empty: {
    happened: "The folder still contains articles or other folders.",
    remedy: "Move or delete its contents, or delete the folder with `recursive=true`.",
  },
  cycle: {
    happened: "The folder would become a folder inside itself.",
    remedy: "Choose a parent folder that is neither the folder itself nor inside it.",
  },
  public_link_wrong_mode: {
    happened: "The operation belongs to the other mode of a public link: a Snapshot is refreshed, a Live page is synchronized.",
    remedy: "Use an operation for the mode in `currentState`, or switch the mode with `PATCH /articles/{articleId}/public-link`.",
  },
  anchor_orphaned: {
    happened: "The text that the suggestion refers to is no longer in the article, so there is nothing to replace.",
    remedy: "Make the change by hand at the right place, or reject the suggestion.",
  },
  not_ready: {
    happened: "The result does not exist yet because its job is still queued or running.",
    remedy: "Read the job or conversion until its status is `succeeded`, then request the result.",
  },
  needs_connection: {
    happened: "The workspace is not connected to the external service that this operation needs.",
    remedy: "Ask an admin of the workspace to store a credential for that integration.",
  },
  needs_resource: {
    happened: "The integration is connected, but no site or property of it has been chosen.",
    remedy: "List the integration's resources and choose one.",
  },
  idempotency_in_progress: {
    happened: "The first request with this `Idempotency-Key` is still running.",
    remedy: "Repeat the same request after `Retry-After` seconds to get the answer of the first request.",
  },
  unpublished: {
    happened: "The page was public. Its authors unpublished it, or its `expiresAt` has passed.",
    remedy: "Ask the authors; if they publish the article again, it returns to the same address.",
  },
  output_expired: {
    happened: "The output was created, but its storage time has passed and it was deleted.",
    remedy: "Run the conversion again and download the output before its `expiresAt`.",
  },
  approval_expired: {
    happened: "No decision was made in time: the run continued without a decision, or it ended first.",
    remedy: "Read the run to see how it continued. If the result is not what you want, retry the run or start a new one.",
  },
  link_expired: {
    happened: "The setup link or invitation was already used, has expired, or was withdrawn.",
    remedy: "Ask the sender for a new one. For the first account, start the server again to get a new link.",
  },
  revision_gone: {
    happened: "The revision was never committed, and its text is no longer kept.",
    remedy: "Use a committed revision from `GET /articles/{articleId}/commits`, or the newest one.",
  },
  precondition_failed: {
    happened: "The resource has changed since you read the ETag in `If-Match`, or the resource has no ETag.",
    remedy: "Read the resource again, check what has changed, and repeat the request with the new ETag.",
  },
  payload_too_large: {
    happened: "The body or the update is larger than the limit for one request.",
    remedy: "Split the change into several requests that are below the limit in `detail`.",
  },
  content_too_large: {
    happened: "A text or document exceeds its size limit, would exceed it, or is too large for this operation.",
    remedy: "Shorten the text or split it into several articles; `docs/limits.md` lists the sizes.",
  },
  edit_too_complex: {
    happened: "Computing the edit took longer than the server allows, although its text is not too large. Nothing was written.",
    remedy: "Send fewer edits in one request, and `find` texts that are long enough to occur only once.",
  },
  unsupported_media_type: {
    happened: "The operation does not accept bodies of this `Content-Type`, or does not convert between these two formats.",
    remedy: "Send one of the types in `detail` or in the response header `Accept`, usually `application/json`.",
  },
  validation_failed: {
    happened: "At least one value does not match the schema: it is missing, has the wrong type, or is out of range.",
    remedy: "Correct each value in `errors`, where `pointer` is its location and `message` describes a valid value.",
  },
  unknown_field: {
    happened: "The request has a field or parameter that this operation does not have, often a misspelled one.",
    remedy: "Remove or rename the fields in `errors`. Parameters of the path or query do not belong in the body.",
  },
  url_not_https: {
    happened: "The URL does not begin with `https://`, and the server calls no other URLs.",
    remedy: "Set up a certificate for the receiver and send its https URL.",
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
    happened: "The quoted text or heading occurs more than once, so the place is ambiguous.",
    remedy: "Add `prefix` and `suffix`, or choose one with `occurrence`.",
  },
  gate_failed: {
    happened: "The article did not pass the checks of its publish gate, so the public page was not changed.",
    remedy: "Correct the findings in `errors`, or set the gate of the link to `warn` or `off`.",
  },
  content_not_accepted: {
    happened: "The update contains content that a document here cannot store, such as another Yjs type or invalid Unicode.",
    remedy: "Write only plain Markdown text into `content.md`, `outline.md` or `research.md`.",
  },
  idempotency_key_reused: {
    happened: "This `Idempotency-Key` was already used for a request with another body.",
    remedy: "Use a new key for each new request, and repeat a key only with exactly the same request.",
  },
  precondition_required: {
    happened: "The change could overwrite newer text, because it does not name the revision that it was made from.",
    remedy: "Read the text, then send its revision as `baseRevision`.",
  },
  rate_limited: {
    happened: "This credential or this address has sent more requests than its rate allows.",
    remedy: "Wait for `Retry-After` seconds, then send requests more slowly; the header `RateLimit` shows the remaining quota.",
  },
  provider_quota: {
    happened: "The external service that this operation needs refuses further requests for now.",
    remedy: "Try again after the provider renews the quota, or raise the quota with the provider.",
  },
  internal: {
    happened: "The server failed with an unexpected error; the request may or may not have taken effect.",
    remedy: "Give the `requestId` to the operator, who finds the reason in the log. Read the resource before you repeat the request.",
  },
  provider_unavailable: {
    happened:
      "A required external service is not configured, did not answer or answered with an error, or this version cannot execute steps of this type.",
    remedy:
      "Check that the provider is configured and reachable, then start the operation or the run again. A step type that `message` names needs a server version that can execute it.",
  },
  unavailable: {
    happened: "The server cannot do this at the moment: it is starting, stopping, overloaded or disconnected from its store.",
    remedy: "Repeat the request after `Retry-After` seconds, with the same `Idempotency-Key` if it had one.",
  },
  disk_full: {
    happened: "The server's disk is full, so writes are refused. Reads still work.",
    remedy: "Nothing of the request was stored. Repeat it after the operator has freed disk space.",
  },
  conversion_failed: {
    happened: "The document could not be converted: it is damaged, encrypted, too complex or took too long.",
    remedy: "Open the file in its own program, save it again in a plain form, and convert the new file.",
  },
  budget_exhausted: {
    happened: "The run would exceed the tokens, the money or the time of its budget.",
    remedy: "Start a new run with a larger budget or with fewer steps.",
  },
  approval_rejected: {
    happened: "A person rejected the output of a step, which ended the run.",
    remedy: "Read the reviewer's note in the `message` of the failure, then start a new run with better instructions.",
  },
  step_failed: {
    happened: "A step of the run could not produce a usable result, and no attempts are left.",
    remedy: "Read `message` for the reason. If `retryable` is true, a new run may succeed without any change.",
  },
};
