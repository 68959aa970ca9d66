-- What the scripts of the pins share; it stands before each of them.
--
-- dy:p2:pin:<session>     hash of replica, generation, kv (tokens) and cohort; it points to
-- dy:p2:use:<replica>     sorted set of '<kv>:<session>' by last use in ms, which is the truth: who is in it counts
-- dy:p2:sessions, dy:p2:kv  hashes of the sums of those sets, per replica
-- dy:p2:oldest            sorted set of replicas by a time that no member of their set was used before
-- dy:p2:cohort:<cohort>   sorted set of the replicas that hold its prefix, by last use
-- dy:p2:left              hash of '<ms> <kv> <sessions>' per replica that sessions were moved away from just now
-- dy:p2:epoch             when this database began; another value means that it was emptied
--
-- ARGV[1] and [2]: time to live in ms; now in ms ('': by the clock of Redis).
local ttl_ms, now_ms = tonumber(ARGV[1]), tonumber(ARGV[2])
if not now_ms then
  local time = redis.call('TIME')
  now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
end
local cutoff = now_ms - ttl_ms
-- Keys go by themselves, after everything in them has: last use is what counts, not when Redis gets round to it.
local keep_s = math.ceil(ttl_ms / 1000) + 60
local HOLDS_MS = 3600000
local SESSIONS, KV, OLDEST, EPOCH = 'dy:p2:sessions', 'dy:p2:kv', 'dy:p2:oldest', 'dy:p2:epoch'

local function use_key(replica) return 'dy:p2:use:' .. replica end
local function pin_key(session) return 'dy:p2:pin:' .. session end
local function whole(number) return string.format('%.0f', number) end
local function kv_of(member) return tonumber(string.match(member, '^%d+')) end

-- Compares a replica's sums with its set and works them out anew if they do not fit, as after an eviction.
local function check(replica)
  local sessions = redis.call('ZCARD', use_key(replica))
  if sessions == 0 then
    redis.call('HDEL', SESSIONS, replica)
    redis.call('HDEL', KV, replica)
    return
  end
  local kv = tonumber(redis.call('HGET', KV, replica) or -1)
  if kv >= 0 and tonumber(redis.call('HGET', SESSIONS, replica) or 0) == sessions then return end
  kv = 0
  for _, member in ipairs(redis.call('ZRANGE', use_key(replica), 0, -1)) do kv = kv + kv_of(member) end
  redis.call('HSET', SESSIONS, replica, sessions)
  redis.call('HSET', KV, replica, whole(kv))
end

local function add(replica, sessions, kv)
  for key, by in pairs({ [SESSIONS] = sessions, [KV] = kv }) do
    -- Below some size Redis reads a hash from its beginning for every field, unless it has a value as long as this.
    redis.call('HSETNX', key, '', 'sums per replica over dy:p2:use:*, worked out by the scripts of the pins alone')
    redis.call('HINCRBY', key, replica, by)
  end
end

local function drop(replica, member)
  if redis.call('ZREM', use_key(replica), member) == 1 then
    add(replica, -1, -kv_of(member))
    check(replica)
  end
end

-- The pin of a session that is in use, or nil.
local function stored(session)
  local found = redis.call('HMGET', pin_key(session), 'replica', 'generation', 'kv', 'cohort')
  if not found[1] then return nil end
  local pin = {
    session = session, replica = found[1], generation = tonumber(found[2]), kv = found[3], cohort = found[4],
    member = found[3] .. ':' .. session,
  }
  local used = redis.call('ZSCORE', use_key(pin.replica), pin.member)
  if used and tonumber(used) > cutoff then return pin end
  if used then drop(pin.replica, pin.member) end
  redis.call('DEL', pin_key(session))
  return nil
end

local function keep_shared(replica)
  for _, key in ipairs({ use_key(replica), SESSIONS, KV, OLDEST, EPOCH }) do redis.call('EXPIRE', key, keep_s) end
end

local function hold(cohort, replica)
  if cohort == '' then return end
  local key = 'dy:p2:cohort:' .. cohort
  redis.call('ZADD', key, now_ms, replica)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now_ms - HOLDS_MS)
  redis.call('EXPIRE', key, HOLDS_MS / 1000)
end

local function touch(pin)
  redis.call('ZADD', use_key(pin.replica), now_ms, pin.member)
  redis.call('EXPIRE', pin_key(pin.session), keep_s)
  hold(pin.cohort, pin.replica)
  keep_shared(pin.replica)
end

local function write(pin)
  redis.call('HSET', pin_key(pin.session), 'replica', pin.replica, 'generation', pin.generation, 'kv', pin.kv,
    'cohort', pin.cohort)
  pin.member = pin.kv .. ':' .. pin.session
  if redis.call('ZADD', use_key(pin.replica), now_ms, pin.member) == 1 then
    add(pin.replica, 1, pin.kv)
  end
  redis.call('ZADD', OLDEST, 'LT', now_ms, pin.replica)
  redis.call('SET', EPOCH, whole(now_ms), 'NX')
  touch(pin)
  check(pin.replica)
end

-- Takes at most `limit` sessions off their replicas that nobody used for their time to live; how many it took.
local function sweep(limit)
  local swept = 0
  for _, replica in ipairs(redis.call('ZRANGEBYSCORE', OLDEST, '-inf', cutoff, 'LIMIT', 0, limit)) do
    local unused = redis.call('ZRANGEBYSCORE', use_key(replica), '-inf', cutoff, 'LIMIT', 0, limit - swept)
    for _, member in ipairs(unused) do drop(replica, member) end
    swept = swept + #unused
    local first = redis.call('ZRANGE', use_key(replica), 0, 0, 'WITHSCORES')
    if first[1] then
      redis.call('ZADD', OLDEST, first[2], replica)
    else
      redis.call('ZREM', OLDEST, replica)
    end
    if swept >= limit then break end
  end
  return swept
end

-- Tells every router's cache, before the caller has its answer. Generation 0: the session has ended.
local function tell(session, replica, generation)
  redis.call('PUBLISH', 'dy:p2:moves', whole(generation) .. '\0' .. replica .. '\0' .. session)
end

local function answer(pin) return { pin.replica, pin.generation, tonumber(pin.kv), pin.cohort } end
