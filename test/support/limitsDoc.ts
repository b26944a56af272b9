/**
 * LimitsDoc writes docs/limits.md from `api/limits.ts` and the descriptions below.
 *
 * A limit without a description, or a description without a limit, fails a test. So the page agrees with the code.
 */
import { defaultLimits, type LimitField, type RateLimit } from "../../api/limits.ts";

interface LimitText {
  /** The quantity that is limited, and the reason for the default. */
  readonly is: string;
  /** What happens above the limit. */
  readonly above: string;
  /** The unit, if the default is a plain number. */
  readonly unit?: string;
}

interface Section {
  readonly title: string;
  readonly before?: string;
  readonly limits: Partial<Record<LimitField, LimitText>>;
  readonly after?: string;
}

const units: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
];

function toTime(milliseconds: number): string {
  const [size, unit] = units.find(([size]) => milliseconds % size === 0) ?? [1, "ms"];
  const time = `${milliseconds / size} ${unit}`;
  return time === "1 d" ? "24 h" : time;
}

function toSize(bytes: number): string {
  if (bytes % 1024 !== 0) return `${bytes.toLocaleString("en")} bytes`;
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`;
}

function isTime(field: string): boolean {
  return /^keep\.(?!eventsPerLog)|(?:Ms|\.ms)$|retryAfter|oldSecret|optionalApproval|refreshGrace/.test(field);
}

/** Returns the default of a limit with its unit. */
function toDefault(field: string, value: number | RateLimit, unit: string | undefined): string {
  if (value === "off") return "off";
  if (typeof value === "object") {
    const amount = (count: number) => (field.endsWith("ytes") ? toSize(count) : count.toLocaleString("en"));
    return `${amount(value.count)} a ${value.seconds === 60 ? "minute" : "second"}, burst ${amount(value.burst)}`;
  }
  if (unit !== undefined) return `${value.toLocaleString("en")} ${unit}`;
  return isTime(field) ? toTime(value) : toSize(value);
}

const fails = "the run fails";
const stepFails = "the step fails";
const notConverted = "the conversion fails";

const sections: readonly Section[] = [
  {
    title: "Rates",
    before:
      "A rate is a bucket of `burst` tokens that fills by `count` every `seconds`. It belongs to a credential unless the table says otherwise.",
    limits: {
      "rate.default": { is: "Every request.", above: "429 with `Retry-After`" },
      "rate.writes": { is: "POST, PUT, PATCH and DELETE requests; they also count in `rate.default`.", above: "429" },
      "rate.connects": {
        is: "Socket upgrades and opened streams, which count only here: a thousand editors reconnect at once after a restart. Event streams of public pages count for each address and server.",
        above: "429, close 4429",
      },
      "rate.upgrades": {
        is: "Upgrade requests for sockets, for each address, before their credential is read. The rate equals `rate.connects`, because all editors of an office may share one address.",
        above: "429 with `Retry-After`",
      },
      "rate.refusals": {
        is: "Refused sockets of one credential from one address, on each server: old clients reconnect ten times a second.",
        above: "the refusal is delayed by `socket.refusalMs`",
      },
      "rate.runs": { is: "Requests that start a run or continue one.", above: "429" },
      "rate.conversions": { is: "Requested conversions.", above: "429" },
      "rate.management": { is: "Writes to keys, webhooks, accounts and members.", above: "429" },
      "rate.auth": {
        is: "Sign-in with a password, also of the web app, and setup, for each address. The rate slows down guessing.",
        above: "429",
      },
      "rate.public": { is: "Public pages, for each address and server.", above: "429" },
    },
  },
  {
    title: "Bodies and lists",
    limits: {
      "body.json": { is: "A JSON body.", above: "413" },
      "body.string": { is: "One string in a body.", above: "422" },
      "body.text": { is: "A body that contains the text of a document; the text itself is limited by `article.file`.", above: "413" },
      "body.keys": {
        is: "Members and items of one body. The limit protects the code after the parser.",
        above: "422",
        unit: "members",
      },
      "body.depth": { is: "Nesting of a body.", above: "422", unit: "levels" },
      "body.freeForm": { is: "Settings of a workspace, as JSON.", above: "422" },
      "body.freeFormDepth": { is: "Nesting of settings.", above: "422", unit: "levels" },
      "batch.calls": {
        is: "Calls in one tRPC request. A request head of 64 KiB could name 60,000 calls, each with its own answer.",
        above: "400",
        unit: "calls",
      },
      "prefer.waitMs": {
        is: "Longest wait of `Prefer: wait`. Proxies often end a request without an answer after a minute.",
        above: "shortened to the limit",
      },
      "body.prose": {
        is: "Instructions, feedback and notes; the text, the quote and the replacement of a review.",
        above: "422",
        unit: "characters",
      },
      "body.public": { is: "A body of a request without a credential: sign-in and setup.", above: "413" },
      "body.inFlight": {
        is: "Body bytes of unanswered requests in one process. A parsed body takes two to three times its bytes. [http.md](http.md) says when a body is read.",
        above: "503 with `Retry-After`",
      },
      "body.inFlightAccount": {
        is: "The same for one account with all its keys and sessions: one upload of `conversion.input` beside other bodies.",
        above: "503 with `Retry-After`",
      },
      "body.inFlightAddress": {
        is: "The same for one address without a credential: sixteen of the largest bodies at once.",
        above: "503 with `Retry-After`",
      },
      "list.limitMax": { is: "The largest `limit` of a list.", above: "422", unit: "items" },
      "list.limitDefault": { is: "The size of a page without `limit`.", above: "–", unit: "items" },
      "list.scan": { is: "Rows that one list request reads.", above: "a shorter page that still has `nextToken`", unit: "rows" },
      "list.words": { is: "Words of one title that `q` can find.", above: "later words are not found", unit: "words" },
      "blame.spans": {
        is: "Spans in one answer of blame, about 110 kB of JSON. It should be below `list.scan`.",
        above: "further pages with `nextToken`",
        unit: "spans",
      },
      "search.words": {
        is: "Words of one search. In a script without spaces each pair of characters counts as a word.",
        above: "422",
        unit: "words",
      },
      "search.ranked": {
        is: "Documents that one search ranks, those that changed last: [search.md](search.md) has the times.",
        above: "the other matches are not found",
        unit: "documents",
      },
      "search.workMs": { is: "Time of a thread for one search.", above: "422" },
    },
  },
  {
    title: "Documents",
    limits: {
      "article.file": { is: "One file of an article, as UTF-8.", above: "413 `content_too_large`, close 4413" },
      "edit.workMs": {
        is: "Time of a thread for one edit. The heaviest realistic request, a thousand edits over 1.9 MB, took 2.8 to 4.7 s on two busy cores.",
        above: "422 `edit_too_complex`",
      },
      "document.bytes": { is: "An encoded document. A document of 2.5 MB loads in 0.7 s.", above: "413 `content_too_large`, close 4413" },
      "document.clientIds": {
        is: "Client ids in a document. Each makes a keystroke slower: 0.28 ms at 1,000, 4.1 ms at 10,000, 27 ms at 60,000.",
        above: "the update is refused",
        unit: "ids",
      },
      "update.clientIds": { is: "Client ids in one update.", above: "the update is refused", unit: "ids" },
      "update.run": {
        is: "Length of one run of an update. A run of 2^40 under another author's id would swallow the later typing of that author.",
        above: "the update is refused",
        unit: "units",
      },
      "document.pending": {
        is: "Updates that cannot be integrated yet. 1.5 MB of them took 7.7 s of CPU.",
        above: "the update is refused",
      },
      "document.keptMs": {
        is: "Time for which an uncommitted revision can be rebuilt, as the base of an edit. Committed revisions are kept for ever.",
        above: "409 `revision_conflict`, 410 `revision_gone`",
      },
      "document.keptBatches": {
        is: "The same as a number of newer batches; the limit that is reached first counts.",
        above: "409 `revision_conflict`, 410 `revision_gone`",
        unit: "batches",
      },
    },
  },
  {
    title: "Work on texts",
    before:
      "These limits are fixed, because they follow from the time for which the event loop may be blocked. Work within the first three is done at once, other work in threads.",
    limits: {},
    after: `| what | bound | above it |
|---|---|---|
| characters of the input texts | 64 Ki | a thread |
| characters that differ between them | 8 Ki | a thread: comparing 8 Ki takes up to 10 ms, and sending work to a thread half a millisecond |
| base and live text of a \`patch\` | 16 Ki, with 1 Mi characters searched by its edits | a thread |
| places at which one edit writes | 2,000, or 20,000,000 divided by the document's pieces if that is fewer | places near each other are joined |
| changed stretches in a diff | 3,000 of lines, 5,000 of words | stretches near each other are shown as one |
| a comparison or a count (an edit has \`edit.workMs\` instead) | 15 s, after at most 15 s of waiting, with 20 others of the workspace and 10 of the text | 413 \`content_too_large\`, 429 |
| an earlier revision rebuilt | 60 s, after at most 15 s of waiting | 413 \`content_too_large\`, 429 |
| a syntax tree | 512 Ki characters, 5 s, after at most 10 s of waiting, with 50 others | 413 \`content_too_large\`, 429 |
| the layout of a public page | 1 Mi characters, 2 s and 5 ms more for each 1,000 characters up to 6 s, 4 Mi characters of HTML | shown as plain text, and not tried again |
| the wait for that layout | 4 s, or 20 others of the workspace | shown as plain text for this request |
| memory of a thread | 512 MiB, rebuilding 1 GiB | as if the work took too long |

A time of work is processor time of its thread, where the system shows it (Linux), so a busy machine does not make a text look too long. If the
thread gets so little of a processor that the work takes 20 times as long on the clock, it ends as if it had waited too long.`,
  },
  {
    title: "Sockets and streams",
    limits: {
      "frame.bytes": { is: "One message. The first sync of a long-edited article is 2.5 MB.", above: "close 1009" },
      "frame.update": {
        is: "One update, over a socket or REST. The answer to a sync step 1 of the server may have `frame.bytes`.",
        above: "the update is refused, 413 over REST",
      },
      "socket.frames": {
        is: "Frames of one socket, pings and pongs included. A person types 15 frames a second; an import sends a history of 260,000 keystrokes at once.",
        above: "close 4429",
      },
      "socket.earlyFrames": {
        is: "Frames of one socket while its document is loaded. A person types 200 in ten seconds.",
        above: "close 4429",
        unit: "frames",
      },
      "socket.bytes": { is: "Bytes of one socket.", above: "close 4429" },
      "room.queue": {
        is: "Bytes of one document on one server that are not yet on disk.",
        above: "writers are closed with 1013; 503 over REST",
      },
      "socket.syncAnswers": {
        is: "Answers to sync step 1 for one socket: a request of three bytes returns a whole document.",
        above: "the answer waits; several requests get one answer",
      },
      "socket.syncBytes": { is: "Bytes of those answers.", above: "the answer waits" },
      "socket.buffer": {
        is: "Bytes that a slow reader has not read, in addition to one full sync. Up to a quarter more in a document with 16 or more sockets.",
        above: "close 1013",
      },
      "socket.authMs": {
        is: "Time to send a credential as the first frame. A client has the credential when it connects, so one round trip is enough.",
        above: "close 4408",
      },
      "socket.credential": { is: "Size of that first frame. An access token has about 400 bytes.", above: "close 4401" },
      "socket.refusalMs": { is: "Delay of the answer to a refused upgrade above `rate.refusals`.", above: "–" },
      "sockets.anonymous": {
        is: "Sockets of one server without a proven credential. Each may fill a buffer of twice `frame.bytes`, 256 MiB in all.",
        above: "close 4429",
        unit: "sockets",
      },
      "sockets.anonymousAddress": { is: "The same for one address.", above: "close 4429", unit: "sockets" },
      "sockets.held": { is: "Refused upgrades of one server that wait `socket.refusalMs`.", above: "refused at once", unit: "requests" },
      "sockets.article": { is: "Open sockets of one article on one server.", above: "the new socket is closed with 4429", unit: "sockets" },
      "sockets.credential": {
        is: "Open sockets of one credential on one server.",
        above: "the new socket is closed with 4429",
        unit: "sockets",
      },
      "sse.buffer": {
        is: "Bytes read ahead for one reader of a stream, and bytes of lately read events that the readers of one timeline share. A reader that reads nothing for 12 s is disconnected and can resume.",
        above: "the rest waits in the log",
      },
      "sse.credential": { is: "Open streams of one credential on one server.", above: "429", unit: "streams" },
      "sse.address": {
        is: "Open event streams of public pages, for each address and server. All readers of an office may share one address.",
        above: "429",
        unit: "streams",
      },
      "awareness.state": { is: "Awareness state of one client: cursor and colours.", above: "dropped" },
      "awareness.states": {
        is: "Awareness states in one frame, and client ids that belong to one socket.",
        above: "dropped",
        unit: "states",
      },
      "awareness.socket": { is: "Awareness states that one socket shows. An editor has one.", above: "dropped", unit: "states" },
      "awareness.room": {
        is: "All awareness states of one document on one server, each counted as at least 512 bytes. A client that joins gets all of them at once.",
        above: "dropped",
      },
      "awareness.rate": { is: "Awareness frames of one socket.", above: "dropped; the newest is kept" },
    },
  },
  {
    title: "Reviews",
    limits: {
      "review.perArticle": {
        is: "Reviews of one article. After each commit of the article, the places of all of them are found again.",
        above: "409 `limit_reached`",
        unit: "reviews",
      },
      "review.replies": { is: "Replies in one review.", above: "409 `limit_reached`", unit: "replies" },
      "review.mentions": {
        is: "Different handles in one text, and different accounts that one review mentions. Each is looked up and indexed.",
        above: "422",
        unit: "handles",
      },
      "review.bytes": {
        is: "One review with its replies, as JSON. A page has up to 100 reviews with all their replies.",
        above: "409 `limit_reached`",
      },
    },
  },
  {
    title: "Templates",
    limits: {
      "template.perWorkspace": {
        is: "Templates of one workspace. A new one reads the records of all others.",
        above: "409 `limit_reached`",
        unit: "templates",
      },
    },
  },
  {
    title: "Webhooks",
    limits: {
      "webhook.perWorkspace": { is: "Webhooks of one workspace.", above: "409 `limit_reached`", unit: "webhooks" },
      "webhook.url": { is: "Length of a webhook's address.", above: "422", unit: "characters" },
      "webhook.payload": { is: "Body of a delivery; an event refers to the rest.", above: "its texts are shortened" },
      "webhook.totalMs": { is: "One attempt, from the name lookup to the end of the answer.", above: "the attempt fails" },
      "webhook.connectMs": { is: "Name lookup, connection and TLS of one attempt.", above: "the attempt fails" },
      "webhook.response": {
        is: "Bytes of a receiver's answer inside TLS that are read: interim answers, head, chunk framing and body.",
        above: "the rest is not read; the attempt fails if no byte of the body was read",
      },
      "webhook.responseKept": { is: "Stored part of the last attempt's answer.", above: "shortened" },
      "webhook.inFlight": {
        is: "Open attempts of one server to one webhook: a slow receiver delays only itself.",
        above: "the attempt waits",
        unit: "attempts",
      },
      "webhook.inFlightProcess": { is: "Open attempts of one server.", above: "the attempt waits", unit: "attempts" },
      "webhook.retryAfter": { is: "The longest `Retry-After` of a receiver that is honoured.", above: "shortened to the limit" },
      "webhook.oldSecret": { is: "Time for which the old secret signs too after a rotation.", above: "only the new secret signs" },
    },
  },
  {
    title: "Conversions",
    before: "A conversion that exceeds a limit of its document ends with `conversion_failed` and a sentence that names the limit.",
    limits: {
      "conversion.waiting": {
        is: "Conversions of one account in one workspace, or in none, that have not ended.",
        above: "409 `limit_reached`",
        unit: "conversions",
      },
      "conversion.perWorkspace": {
        is: "Conversions of one workspace, or of one account without a workspace, until `keep.conversions` after their end.",
        above: "409 `limit_reached`",
        unit: "conversions",
      },
      "conversion.stored": {
        is: "Stored bytes of these conversions: inputs until the end of the conversion, outputs until `keep.output` after it.",
        above: "409 `limit_reached`; a conversion whose output has no room ends as failed",
      },
      "conversion.outputJson": {
        is: "An output inside JSON. Its bytes alone are sent in pieces and have no such limit.",
        above: "413 `content_too_large`",
      },
      "conversion.input": { is: "An uploaded file, or a document at an address.", above: "413 for an uploaded file; the conversion fails" },
      "conversion.fetchMs": { is: "Reading a document at an address, from the name lookup on.", above: notConverted },
      "conversion.ms": { is: "Processor time of one conversion.", above: notConverted },
      "conversion.memory": { is: "Memory of the process that converts.", above: notConverted },
      "conversion.output": { is: "Output of one conversion.", above: notConverted },
      "conversion.nodes": { is: "Elements of a document: paragraphs, pieces of text, cells.", above: notConverted, unit: "elements" },
      "conversion.depth": { is: "Nesting of a document, such as lists in lists.", above: notConverted, unit: "levels" },
      "archive.entries": { is: "Files in a DOCX archive.", above: notConverted, unit: "files" },
      "archive.total": { is: "Inflated bytes of a DOCX archive.", above: notConverted },
      "archive.entry": { is: "Inflated bytes of one file in a DOCX archive.", above: notConverted },
      "archive.ratio": {
        is: "Inflated bytes for each compressed byte of a file in a DOCX archive, above 1 MiB.",
        above: notConverted,
        unit: "times",
      },
    },
  },
  {
    title: "Runs",
    limits: {
      "run.journal": { is: "Started steps, over all attempts of a run.", above: fails, unit: "entries" },
      "run.stepOutput": { is: "Output of one step.", above: fails },
      "run.state": { is: "Output of all steps of a run.", above: fails },
      "run.optionalApproval": { is: "Wait for an optional approval.", above: "the run goes on" },
      "model.quietMs": { is: "Time without a byte from the model's endpoint, before its answer or within it.", above: stepFails },
      "model.totalMs": {
        is: "One answer of a model with its retries, even if the endpoint keeps the connection open.",
        above: stepFails,
      },
      "model.line": { is: "One line of a model's answer, which is buffered until its end.", above: stepFails },
      "model.answer": { is: "A model's whole answer; its text is limited by `run.stepOutput`.", above: stepFails },
      "model.received": {
        is: "Bytes of the connection for one answer of a model, head and chunk framing included, before decompression.",
        above: stepFails,
      },
      "code.blocks": { is: "Code blocks of an article that are verified.", above: "skipped, `article_block_limit`", unit: "blocks" },
      "code.blockChars": { is: "Length of one code block.", above: "skipped, `block_too_large`", unit: "characters" },
    },
  },
  {
    title: "Counts and lifetimes",
    limits: {
      "keys.active": { is: "Active API keys of one account.", above: "409 `limit_reached`", unit: "keys" },
      "keep.accessToken": { is: "Life of an access token.", above: "401 `token_expired`" },
      "keep.refreshToken": { is: "Life of a refresh token.", above: "401" },
      "keep.refreshGrace": {
        is: "Time for which the previous refresh token is accepted after its first use: two tabs, or a lost answer. The cookie of the web app gets at most one new token in this time.",
        above: "401, and the session ends",
      },
      "keep.ticket": { is: "Life of a stream ticket.", above: "401, close 4401" },
      "keep.setupLink": { is: "Life of a setup link.", above: "410 `link_expired`" },
      "keep.idempotency": { is: "Time for which an `Idempotency-Key` and its answer are kept.", above: "the request runs again" },
      "keep.idempotencySecret": { is: "The same, if the answer contains a secret.", above: "the request runs again" },
      "keep.nextToken": { is: "Life of a `nextToken`.", above: "400 `invalid_next_token`" },
      "folder.perWorkspace": {
        is: "Folders of one workspace, including those that a job is still deleting.",
        above: "409 `limit_reached`",
        unit: "folders",
      },
      "folder.depth": {
        is: "Levels of folders, the top level included. Every move reads the folders above and below.",
        above: "409 `limit_reached`",
        unit: "levels",
      },
      "job.records": {
        is: "Records that one commit of a job changes: a job makes room for other work between two commits.",
        above: "the job makes more commits",
        unit: "records",
      },
      "keep.jobs": { is: "Time for which a job can be read after its end.", above: "deleted" },
      "keep.output": { is: "Time for which the output of a conversion is kept.", above: "410 `output_expired`" },
      "keep.conversions": { is: "Time for which a conversion can be read after its end.", above: "deleted" },
      "keep.deliveries": { is: "Time for which webhook deliveries are kept.", above: "deleted" },
      "keep.events": { is: "Time for which events of runs, workspaces and articles are kept.", above: "`stream.reset`" },
      "keep.eventsPerLog": { is: "Events kept of one run, of one workspace, and of one article.", above: "`stream.reset`", unit: "events" },
      "keep.trash": { is: "Time for which a deleted article stays in the trash.", above: "deleted for good" },
    },
    after: `Invitations and custom workflows do not exist yet. So their limits do not exist either: \`keep.invitation\`, \`workflow.steps\`. There is no \`blob.bytes\`, because every blob is already limited by
\`article.file\`, \`run.stepOutput\` or \`conversion.input\`.`,
  },
];

const head = `# Limits

\`\`\`sh
LIMITS='{"keys.active": 100, "rate.writes": "off"}' npm start
\`\`\`

This page lists every size, rate, count and lifetime with its default and what happens above it. It is written from \`api/limits.ts\`.

\`LIMITS\` is a JSON object that overrides single fields. \`LIMITS=off\` turns every rate and count off, but no size, lifetime or validity rule. In
\`LIMITS\`, sizes are in bytes, times in milliseconds, and rates are \`{"count": …, "seconds": …, "burst": …}\` or \`"off"\`. An unknown field stops
the start. Every changed field is listed under \`deviations\` in \`/readyz\`.`;

function toRow([field, { is, above, unit }]: readonly [string, LimitText]): string {
  return `| \`${field}\` | ${toDefault(field, defaultLimits[field as LimitField], unit)} | ${above} | ${is} |`;
}

function toSection({ title, before, limits, after }: Section): string {
  const rows = Object.entries(limits).map(toRow);
  const table = rows.length === 0 ? [] : [["| field | default | above it | bounds |", "|---|---|---|---|", ...rows].join("\n")];
  return [`## ${title}`, before, ...table, after].filter((part) => part !== undefined).join("\n\n");
}

/** The described limits, in the order of the page. */
export const describedLimits: readonly string[] = sections.flatMap(({ limits }) => Object.keys(limits));

export function toLimitsPage(): string {
  return `${[head, ...sections.map(toSection)].join("\n\n")}\n`;
}
