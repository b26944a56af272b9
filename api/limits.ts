/**
 * Defines every size, rate, count and lifetime of the API with its default value.
 *
 * The `LIMITS` setting overrides single fields. Sizes are in bytes, times in milliseconds. The reason for each value is
 * in docs/limits.md.
 */

/**
 * A token bucket: `count` tokens are added every `seconds`, and at most `burst` tokens are saved. `"off"` never refuses
 * a request.
 */
export type RateLimit = { readonly count: number; readonly seconds: number; readonly burst: number } | "off";

const KiB = 1024;
const MiB = 1024 * KiB;
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

export const defaultLimits = {
  "rate.default": { count: 200, seconds: 1, burst: 400 } as RateLimit,
  "rate.writes": { count: 100, seconds: 1, burst: 400 } as RateLimit,
  "rate.connects": { count: 1000, seconds: 1, burst: 2000 } as RateLimit,
  "rate.upgrades": { count: 1000, seconds: 1, burst: 2000 } as RateLimit,
  "rate.refusals": { count: 2, seconds: 60, burst: 10 } as RateLimit,
  "rate.runs": { count: 20, seconds: 60, burst: 20 } as RateLimit,
  "rate.conversions": { count: 30, seconds: 60, burst: 30 } as RateLimit,
  "rate.management": { count: 60, seconds: 60, burst: 120 } as RateLimit,
  "rate.auth": { count: 10, seconds: 60, burst: 20 } as RateLimit,
  "rate.public": { count: 300, seconds: 1, burst: 600 } as RateLimit,

  "body.json": 1 * MiB,
  "body.string": 256 * KiB,
  "body.text": 5 * MiB,
  "body.keys": 10_000,
  "body.depth": 64,
  "body.freeForm": 64 * KiB,
  "body.freeFormDepth": 8,
  "batch.calls": 100,
  "prefer.waitMs": 30 * second,
  "body.prose": 10_000,
  "body.public": 16 * KiB,
  "body.inFlight": 64 * MiB,
  "body.inFlightAccount": 32 * MiB,
  "body.inFlightAddress": 256 * KiB,
  "list.limitMax": 100,
  "list.limitDefault": 50,
  "list.scan": 2000,
  "list.words": 32,
  "blame.spans": 1000,
  "search.words": 32,
  "search.ranked": 10_000,
  "search.workMs": 2 * second,

  "article.file": 2 * MiB,
  "edit.workMs": 5 * second,
  "document.bytes": 16 * MiB,
  "document.clientIds": 10_000,
  "update.clientIds": 6000,
  "update.run": 2 ** 24,
  "document.pending": 256 * KiB,
  "document.keptMs": 24 * hour,
  "document.keptBatches": 10_000,

  "frame.bytes": 4 * MiB,
  "frame.update": 1 * MiB,
  "socket.frames": { count: 10_000, seconds: 1, burst: 300_000 } as RateLimit,
  "socket.earlyFrames": 1000,
  "socket.bytes": { count: 8 * MiB, seconds: 1, burst: 32 * MiB } as RateLimit,
  "room.queue": 8 * MiB,
  "socket.syncAnswers": { count: 50, seconds: 1, burst: 50 } as RateLimit,
  "socket.syncBytes": { count: 8 * MiB, seconds: 1, burst: 32 * MiB } as RateLimit,
  "socket.buffer": 1 * MiB,
  "socket.authMs": 5 * second,
  "socket.credential": 8 * KiB,
  "socket.refusalMs": 10 * second,
  "sockets.anonymous": 32,
  "sockets.anonymousAddress": 8,
  "sockets.held": 1000,
  "sockets.article": 2000,
  "sockets.credential": 2000,
  "sse.buffer": 1 * MiB,
  "sse.credential": 2000,
  "sse.address": 2000,
  "awareness.state": 4 * KiB,
  "awareness.states": 100,
  "awareness.socket": 20,
  "awareness.room": 1 * MiB,
  "awareness.rate": { count: 20, seconds: 1, burst: 20 } as RateLimit,

  "review.perArticle": 2000,
  "review.replies": 200,
  "review.mentions": 100,
  "review.bytes": 128 * KiB,
  "template.perWorkspace": 500,

  "webhook.perWorkspace": 50,
  "webhook.url": 2048,
  "webhook.payload": 20 * KiB,
  "webhook.totalMs": 15 * second,
  "webhook.connectMs": 5 * second,
  "webhook.response": 16 * KiB,
  "webhook.responseKept": 1 * KiB,
  "webhook.inFlight": 4,
  "webhook.inFlightProcess": 200,
  "webhook.retryAfter": 24 * hour,
  "webhook.oldSecret": 24 * hour,

  "conversion.waiting": 100,
  "conversion.perWorkspace": 10_000,
  "conversion.stored": 1024 * MiB,
  "conversion.outputJson": 4 * MiB,
  "conversion.ms": 30 * second,
  "conversion.memory": 1024 * MiB,
  "conversion.output": 64 * MiB,
  "conversion.nodes": 500_000,
  "conversion.depth": 100,
  "archive.entries": 2000,
  "archive.total": 200 * MiB,
  "archive.entry": 50 * MiB,
  "archive.ratio": 200,

  "run.journal": 1000,
  "run.stepOutput": 4 * MiB,
  "run.state": 32 * MiB,
  "run.optionalApproval": 15 * minute,
  "model.quietMs": 2 * minute,
  "model.totalMs": 30 * minute,
  "model.line": 1 * MiB,
  "model.answer": 64 * MiB,
  "model.received": 128 * MiB,
  "code.blocks": 50,
  "code.blockChars": 20_000,

  "conversion.input": 25 * MiB,
  "conversion.fetchMs": 15 * second,

  "folder.perWorkspace": 5000,
  "folder.depth": 20,
  "job.records": 200,

  "keys.active": 50,
  "keep.accessToken": 15 * minute,
  "keep.refreshToken": 30 * day,
  "keep.refreshGrace": 30 * second,
  "keep.ticket": 1 * hour,
  "keep.setupLink": 1 * hour,
  "keep.idempotency": 24 * hour,
  "keep.idempotencySecret": 10 * minute,
  "keep.nextToken": 24 * hour,
  "keep.deliveries": 30 * day,
  "keep.jobs": 30 * day,
  "keep.trash": 30 * day,
  "keep.output": 24 * hour,
  "keep.conversions": 30 * day,
  "keep.events": 30 * day,
  "keep.eventsPerLog": 100_000,
};

export type Limits = { readonly [Field in keyof typeof defaultLimits]: (typeof defaultLimits)[Field] };
export type LimitField = keyof Limits;
/** A limit that is one number. */
export type NumberField = { [Field in LimitField]: Limits[Field] extends number ? Field : never }[LimitField];
