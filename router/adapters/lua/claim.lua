-- Chooses a replica and pins the session to it, unless another router was first; returns the pin that won.
-- The choice is `fewest_sessions` of router/domain/placement.py; a contract test holds both to the same answers.
-- KEYS[1] the pin. ARGV: time to live in seconds, prefix of the sessions per replica, the affinity key,
-- the replica and generation being replaced ('' and 0: none), the preferred replica ('': none), the candidates.
local ttl_s, prefix, session = ARGV[1], ARGV[2], ARGV[3]
local replacing, replacing_generation, prefer = ARGV[4], tonumber(ARGV[5]), ARGV[6]

local stored = redis.call('HMGET', KEYS[1], 'replica', 'generation')
if stored[1] then
  local generation = tonumber(stored[2])
  if stored[1] ~= replacing or generation ~= replacing_generation then
    return { stored[1], generation }
  end
  redis.call('ZREM', prefix .. stored[1], session)
end

local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local chosen, fewest
for i = 7, #ARGV do
  if ARGV[i] == prefer then
    chosen = prefer
    break
  end
  local sessions = prefix .. ARGV[i]
  redis.call('ZREMRANGEBYSCORE', sessions, '-inf', now_ms - ttl_s * 1000)
  local count = redis.call('ZCARD', sessions)
  if not fewest or count < fewest then
    chosen, fewest = ARGV[i], count
  end
end

local generation = replacing_generation + 1
redis.call('HSET', KEYS[1], 'replica', chosen, 'generation', generation)
redis.call('EXPIRE', KEYS[1], ttl_s)
redis.call('ZADD', prefix .. chosen, now_ms, session)
redis.call('EXPIRE', prefix .. chosen, ttl_s)
return { chosen, generation }
