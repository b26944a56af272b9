/**
 * The commit script checks a whole batch and then applies it, atomically inside Redis.
 *
 * It makes every check before its first write and returns the first conflict. After the first write nothing may fail,
 * because Redis does not roll back a Lua script.
 *
 * `commitLayout.ts` builds its arguments and `commit.ts` reads its answer.
 */

/** Lua functions for the text of a due row: fence, attempts, due time, kind (JSON) and payload (JSON), one per line. */
export const dueRow = String.raw`
local function parse(text)
  local fence, attempts, at, kind, payload = string.match(text, '^([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
  return { fence = fence, attempts = attempts, at = at, kind = kind, payload = payload }
end
local function format(row)
  return row.fence .. '\n' .. row.attempts .. '\n' .. row.at .. '\n' .. row.kind .. '\n' .. row.payload
end
local function add(number, move) return string.format('%.0f', tonumber(number) + move) end
`;

/** Lua functions for an entry in the hash of logs: `<tail>:<trimmed to>`. */
export const logState = `
local function logOf(text)
  local tail, trimmed = string.match(text or '0:0', '^(%d+):(%d+)$')
  return { tail = tonumber(tail), trimmed = tonumber(trimmed) }
end
local function whole(number) return string.format('%.0f', number) end
`;

export const commitBody = `
local at = 0
local function take() at = at + 1 return ARGV[at] end
local function number() return tonumber(take()) end
local function key() return KEYS[number()] end
local function revisionOf(row) return string.match(row, '^................{"v":%d+,"r":(%d+),') end
${dueRow}${logState}
local unique, counts, references, due, order, logs, leases = key(), key(), key(), key(), key(), key(), key()

for _ = 1, number() do
  local kind = take()
  if kind == 'fence' then
    local lease, fence = take(), take()
    if redis.call('HGET', leases, lease) ~= fence then return { 'fence', lease } end
  elseif kind == 'due' then
    local id, fence = take(), take()
    local text = redis.call('HGET', due, id)
    if not text or parse(text).fence ~= fence then return { 'due', id } end
  elseif kind == 'tail' then
    local name, position = take(), number()
    if logOf(redis.call('HGET', logs, name)).tail ~= position then return { 'tail', name } end
  else
    local place, records, field, revision = take(), key(), take(), take()
    local row = redis.call('HGET', records, field)
    if (row and revisionOf(row) or '0') ~= revision then return { 'required', place } end
  end
end

local stale, rows = { 'stale' }, {}
for place = 1, number() do
  local records, field, revision, derived, row = key(), take(), take(), take(), take()
  local old = redis.call('HGET', records, field)
  if (old and revisionOf(old) or '0') ~= revision then return { 'record', place } end
  if old and string.sub(old, 1, 16) ~= derived then
    stale[#stale + 1] = place
    stale[#stale + 1] = old
  end
  rows[place] = { records, field, row }
end
if #stale > 1 then return stale end

local indexes = {}
for place = 1, number() do indexes[place] = { take(), key(), take() } end

local rules = {}
for _ = 1, number() do
  local rule, owner = take(), take()
  if redis.call('HGET', unique, rule) == owner then rules[rule] = false end
end
for _ = 1, number() do
  local rule, owner = take(), take()
  local holder = rules[rule]
  if holder == nil then holder = redis.call('HGET', unique, rule) end
  if holder and holder ~= owner then return { 'unique', rule, holder } end
  rules[rule] = owner
end

local states, touched = {}, {}
local function stateOf(id)
  local state = states[id]
  if state == nil then
    local text = redis.call('HGET', due, id)
    state = { before = text, now = text and parse(text) or false }
    states[id] = state
    touched[#touched + 1] = id
  end
  return state
end
for _ = 1, number() do
  local op, id = take(), take()
  local state = stateOf(id)
  if op == 'schedule' or op == 'arm' then
    local row = { attempts = take(), at = take(), kind = take(), payload = take() }
    if op == 'schedule' or not state.now then
      row.fence = add(state.now and state.now.fence or 0, 1)
      state.now = row
    end
  elseif op == 'cancel' then
    state.now = false
  else
    local fence = take()
    if not state.now or state.now.fence ~= fence then return { 'due', id } end
    if op == 'acknowledge' then
      state.now = false
    else
      local attempts, moment, payload = take(), take(), take()
      local row = state.now
      if payload == '' then payload = row.payload end
      state.now = { fence = row.fence, attempts = attempts, at = moment, kind = row.kind, payload = payload }
    end
  end
end

local counted = {}
for place = 1, number() do counted[place] = { take(), take() } end

local referred = {}
for place = 1, number() do
  local sha256, blob, move, now = take(), key(), number(), take()
  if move > 0 and redis.call('HEXISTS', blob, 'n') == 0 then return { 'blob', sha256 } end
  local left = tonumber(redis.call('HGET', references, sha256) or '0') + move
  referred[place] = { sha256, left }
  if left <= 0 then
    local state = stateOf('blob/' .. sha256)
    if not state.now then
      state.now = { fence = '1', attempts = '0', at = now, kind = '"blob.collect"', payload = '{"sha256":"' .. sha256 .. '"}' }
    end
  end
end

-- Also check the type of keys that are only written: a write to a key of another type would stop the script half way.
for _, change in ipairs(indexes) do redis.call('ZCARD', change[2]) end
if counts then redis.call('HLEN', counts) end
if order then redis.call('ZCARD', order) end
if logs then redis.call('HLEN', logs) end
local first = at
for _ = 1, number() do
  local op, stream = take(), key()
  take()
  redis.call('XLEN', stream)
  if op == 'append' then
    local twinStream = key()
    take()
    if twinStream then redis.call('XLEN', twinStream) end
    local count = number()
    at = at + count
  elseif op == 'trim' then
    take()
  end
end
at = first

-- All conditions hold. Only writes follow.
for _, row in ipairs(rows) do
  if row[3] == '' then redis.call('HDEL', row[1], row[2]) else redis.call('HSET', row[1], row[2], row[3]) end
end
for _, change in ipairs(indexes) do
  if change[1] == '+' then redis.call('ZADD', change[2], 0, change[3]) else redis.call('ZREM', change[2], change[3]) end
end
for rule, owner in pairs(rules) do
  if owner then redis.call('HSET', unique, rule, owner) else redis.call('HDEL', unique, rule) end
end
for _, count in ipairs(counted) do
  if redis.call('HINCRBY', counts, count[1], count[2]) == 0 then redis.call('HDEL', counts, count[1]) end
end
for _, blob in ipairs(referred) do
  if blob[2] > 0 then redis.call('HSET', references, blob[1], whole(blob[2])) else redis.call('HDEL', references, blob[1]) end
end
for _, id in ipairs(touched) do
  local state = states[id]
  if state.now then
    local text = format(state.now)
    if text ~= state.before then
      redis.call('HSET', due, id, text)
      redis.call('ZADD', order, state.now.at, id)
    end
  elseif state.before then
    redis.call('HDEL', due, id)
    redis.call('ZREM', order, id)
  end
end

local answer, known, changed = { 'ok' }, {}, {}
local function logNamed(name)
  local log = known[name]
  if log == nil then
    log = logOf(redis.call('HGET', logs, name))
    known[name] = log
  end
  return log
end
for _ = 1, number() do
  local op, stream, name = take(), key(), take()
  local log = logNamed(name)
  changed[name] = true
  if op == 'append' then
    local twinStream, twin = key(), take()
    local count = number()
    local own = log.tail
    if twinStream then
      local other = logNamed(twin)
      changed[twin] = true
      for entry = 1, count do
        local bytes = ARGV[at + entry]
        redis.call('XADD', twinStream, whole(other.tail + entry) .. '-0', 'b', struct.pack('>I8', own + entry) .. bytes)
        redis.call('XADD', stream, whole(own + entry) .. '-0', 'b', struct.pack('>I8', other.tail + entry) .. bytes)
      end
      other.tail = other.tail + count
    else
      for entry = 1, count do redis.call('XADD', stream, whole(own + entry) .. '-0', 'b', ARGV[at + entry]) end
    end
    at = at + count
    log.tail = own + count
    answer[#answer + 1] = log.tail
  elseif op == 'trim' then
    local through = math.min(number(), log.tail)
    if through > log.trimmed then
      redis.call('XTRIM', stream, 'MINID', '=', whole(through + 1) .. '-0')
      log.trimmed = through
    end
  else
    redis.call('UNLINK', stream)
    log.tail, log.trimmed = 0, 0
  end
end
for name in pairs(changed) do
  local log = known[name]
  if log.tail > 0 then
    redis.call('HSET', logs, name, whole(log.tail) .. ':' .. whole(log.trimmed))
  else
    redis.call('HDEL', logs, name)
  end
end
return answer
`;
