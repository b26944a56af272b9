/**
 * This module defines the Lua scripts that run inside Redis, each atomic.
 *
 * Redis does not roll back a script, so each script checks everything it needs before its first write and returns early
 * if a check fails.
 *
 * Every key a script touches is in KEYS. Otherwise a Cluster that is moving the slot could run the script on half of
 * the data instead of refusing it. Scripts marked `allow-oom` only move or free data; they also run when memory is
 * full, so that memory can be freed. Redis refuses the other scripts in that case before they start.
 */
import { createHash } from "node:crypto";
import { commitBody, dueRow, logState } from "./commitScript.ts";

export interface Script {
  readonly text: string;
  readonly sha1: string;
}

function toScript(flags: string, body: string): Script {
  const text = `#!lua${flags === "" ? "" : ` flags=${flags}`}\n${body}`;
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}

export const redisScripts = {
  /**
   * ARGV a key, a channel → an error that names the right the user lacks. All commands are checked when a connection is
   * prepared, because a script that fails at a forbidden command has already executed the commands before it.
   */
  checkRights: toScript(
    "no-writes",
    `
local key, channel = ARGV[1], ARGV[2]
for _, command in ipairs({
  { 'HGET', key, '' }, { 'HMGET', key, '' }, { 'HSET', key, '', '' }, { 'HDEL', key, '' }, { 'HEXISTS', key, '' }, { 'HKEYS', key },
  { 'HLEN', key }, { 'HINCRBY', key, '', '1' }, { 'ZADD', key, '0', '' }, { 'ZREM', key, '' }, { 'ZRANGE', key, '0', '0' },
  { 'ZRANGEBYSCORE', key, '0', '0' }, { 'ZSCORE', key, '' }, { 'ZCARD', key }, { 'XADD', key, '1-0', '', '' },
  { 'XLEN', key }, { 'XTRIM', key, 'MINID', '1-0' }, { 'XRANGE', key, '-', '+' }, { 'UNLINK', key }, { 'PEXPIRE', key, '1' }, { 'TIME' },
  { 'PUBLISH', channel, '' }, { 'SUBSCRIBE', channel }, { 'UNSUBSCRIBE', channel },
}) do
  local isKnown, isAllowed = pcall(redis.acl_check_cmd, unpack(command))
  if not (isKnown and isAllowed) then
    return redis.error_reply('NOPERM the user needs the right to ' .. command[1] .. (command[2] and ' ' .. command[2] or ''))
  end
end
return 1
`,
  ),

  commit: toScript("", commitBody),
  /** The commit script for a batch that only removes data. */
  commitFreeing: toScript("allow-oom", commitBody),

  /**
   * KEYS logs, stream · ARGV name, after, limit, maxBytes → tail, first kept position if there is a gap (else 0),
   * position and bytes of each entry
   */
  readLog: toScript(
    "no-writes",
    `
${logState}
local log = logOf(redis.call('HGET', KEYS[1], ARGV[1]))
local after, limit, maxBytes = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if after < log.trimmed then return { log.tail, log.trimmed + 1 } end
local answer, count, size = { log.tail, 0 }, 0, 0
while after < log.tail and count < limit and size < maxBytes do
  local page = redis.call('XRANGE', KEYS[2], whole(after + 1) .. '-0', '+', 'COUNT', math.min(limit - count, 64))
  if #page == 0 then return redis.error_reply('ERR a log is shorter than its tail says') end
  for _, entry in ipairs(page) do
    if size >= maxBytes then break end
    after = tonumber(string.match(entry[1], '^%d+'))
    answer[#answer + 1] = after
    answer[#answer + 1] = entry[2][2]
    count = count + 1
    size = size + #entry[2][2]
  end
end
return answer
`,
  ),

  /** KEYS due, order · ARGV now, count, end of the claim → id, row before the claim, and new fence of each claimed row */
  claim: toScript(
    "allow-oom",
    `
${dueRow}
local answer = {}
local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
local texts = {}
for place, id in ipairs(ids) do
  texts[place] = redis.call('HGET', KEYS[1], id)
  if not texts[place] then return redis.error_reply('ERR a due row is in the order but not in the table') end
end
for place, id in ipairs(ids) do
  local row = parse(texts[place])
  row.fence, row.attempts, row.at = add(row.fence, 1), add(row.attempts, 1), ARGV[3]
  redis.call('HSET', KEYS[1], id, format(row))
  redis.call('ZADD', KEYS[2], ARGV[3], id)
  answer[#answer + 1] = id
  answer[#answer + 1] = texts[place]
  answer[#answer + 1] = row.fence
end
return answer
`,
  ),

  /** KEYS due, order · ARGV id, fence, end of the claim → 1 if renewed */
  renewDue: toScript(
    "allow-oom",
    `
${dueRow}
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then return 0 end
local row = parse(text)
if row.fence ~= ARGV[2] then return 0 end
row.at = ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], format(row))
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1
`,
  ),

  /**
   * KEYS leases, ends, meta · ARGV name, now, end of the lease, time up to which ended leases are deleted → fence, or 0
   * if the lease is held
   */
  acquireLease: toScript(
    "allow-oom",
    `
local until_ = redis.call('ZSCORE', KEYS[2], ARGV[1])
if until_ and tonumber(until_) > tonumber(ARGV[2]) then return 0 end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[4], 'LIMIT', 0, 8)) do
  redis.call('ZREM', KEYS[2], name)
  redis.call('HDEL', KEYS[1], name)
end
local fence = redis.call('HINCRBY', KEYS[3], 'fence', 1)
redis.call('HSET', KEYS[1], ARGV[1], fence)
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return fence
`,
  ),

  /** KEYS leases, ends · ARGV name, fence, now, end of the lease → 1 if renewed */
  renewLease: toScript(
    "allow-oom",
    `
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1])) <= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
return 1
`,
  ),

  /** KEYS leases, ends · ARGV name, fence → 1 if released */
  releaseLease: toScript(
    "allow-oom",
    `
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 1
`,
  ),

  /**
   * KEYS blob, due, order · ARGV sha256, time until which the commit may follow, number of pieces, number of the first
   * piece sent, pieces … → 1 if the blob is complete. The due row that collects the blob is written before any of its
   * pieces.
   */
  putBlob: toScript(
    "",
    `
${dueRow}
local id = 'blob/' .. ARGV[1]
local text = redis.call('HGET', KEYS[2], id)
local row = { fence = add(text and parse(text).fence or 0, 1), attempts = '0', at = ARGV[2], kind = '"blob.collect"' }
row.payload = '{"sha256":"' .. ARGV[1] .. '"}'
redis.call('HSET', KEYS[2], id, format(row))
redis.call('ZADD', KEYS[3], ARGV[2], id)
redis.call('HSET', KEYS[1], 'u', ARGV[2])
if redis.call('HEXISTS', KEYS[1], 'n') == 1 then return 1 end
local first = tonumber(ARGV[4])
for place = 5, #ARGV do redis.call('HSET', KEYS[1], first + place - 5, ARGV[place]) end
if redis.call('HLEN', KEYS[1]) - 1 < tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], 'n', ARGV[3])
return 1
`,
  ),

  /** KEYS blob, references · ARGV sha256, now → 1 if the blob was removed */
  collectBlob: toScript(
    "allow-oom",
    `
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
local until_ = redis.call('HGET', KEYS[1], 'u')
if until_ and tonumber(until_) > tonumber(ARGV[2]) then return 0 end
return redis.call('UNLINK', KEYS[1])
`,
  ),

  /**
   * KEYS bucket · ARGV now, tokens per millisecond, burst, tokens returned, tokens needed, tokens wanted, lifetime in
   * ms → granted, left
   */
  drawTokens: toScript(
    "allow-oom",
    `
local now, rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = burst
if kept[1] then
  local at = tonumber(kept[2])
  tokens = tonumber(kept[1]) + math.max(0, now - at) * rate
  now = math.max(now, at)
end
tokens = math.min(burst, math.min(burst, tokens) + tonumber(ARGV[4]))
local granted = 0
if tokens >= tonumber(ARGV[5]) then granted = math.min(tokens, tonumber(ARGV[6])) end
tokens = tokens - granted
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], ARGV[7])
return { string.format('%.17g', granted), string.format('%.17g', tokens) }
`,
  ),

  /**
   * KEYS meta · ARGV layout version, number of partitions, id for a new store → version, number of partitions, id of
   * the store, and 1 if all partitions have the id.
   */
  openStore: toScript(
    "allow-oom",
    `
if redis.call('HEXISTS', KEYS[1], 'store') == 0 then
  redis.call('HSET', KEYS[1], 'version', ARGV[1], 'partitions', ARGV[2], 'store', ARGV[3])
end
return redis.call('HMGET', KEYS[1], 'version', 'partitions', 'store', 'whole')
`,
  ),

  /** KEYS meta · ARGV id of the store, 1 if a partition without an id is new → id of the store to which the partition belongs */
  claimPartition: toScript(
    "allow-oom",
    `
if ARGV[2] == '1' and redis.call('HEXISTS', KEYS[1], 'store') == 0 then redis.call('HSET', KEYS[1], 'store', ARGV[1]) end
return redis.call('HGET', KEYS[1], 'store')
`,
  ),

  /** KEYS meta. Records that all partitions have the store's id; from then on, a partition without the id has lost its data. */
  closeStore: toScript("allow-oom", `redis.call('HSET', KEYS[1], 'whole', '1') return 1`),

  /**
   * KEYS meta → store time, id of the store. If the server's clock went back, store time continues from the latest time
   * returned.
   */
  readTime: toScript(
    "allow-oom",
    `
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local kept = redis.call('HMGET', KEYS[1], 'time', 'ahead', 'store')
local ahead = tonumber(kept[2] or '0')
if kept[1] and now + ahead < tonumber(kept[1]) then ahead = tonumber(kept[1]) - now end
redis.call('HSET', KEYS[1], 'time', string.format('%.0f', now + ahead), 'ahead', string.format('%.0f', ahead))
return { string.format('%.0f', now + ahead), kept[3] }
`,
  ),

  /**
   * KEYS meta · ARGV mark for data that has none yet, store time → mark, latest probe time stored before this one.
   * Redis refuses this script while it refuses writes for lack of memory, so it shows whether writes work.
   */
  probe: toScript(
    "",
    `
local kept = redis.call('HMGET', KEYS[1], 'mark', 'probe')
local mark, at = kept[1] or ARGV[1], tonumber(kept[2] or '0')
redis.call('HSET', KEYS[1], 'mark', mark, 'probe', string.format('%.0f', math.max(at, tonumber(ARGV[2]))))
return { mark, string.format('%.0f', at) }
`,
  ),
} as const;
