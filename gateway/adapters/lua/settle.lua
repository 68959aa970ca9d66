-- Gives back a claim's places, and of what it reserved all that was not spent. Answers 1 the first time; 0 when there
-- is nothing to give, and then a claim that comes after its own end finds that it is over.
-- KEYS: claim, rates, running, turn, drill, seats, walk-ins, sessions
-- ARGV: now, holder, session, how long to remember the end, '1' when the claim is given back as if it had never been,
--       then name and final cost of each quota
local now, holder, session, given_back = clock(), ARGV[2], ARGV[3], ARGV[5] == '1'
local claim, rates, running, turn, drill = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local seats, walk_ins, sessions = KEYS[6], KEYS[7], KEYS[8]

local taken = redis.call('HGETALL', claim)
local was = {}
for at = 1, #taken, 2 do
  was[taken[at]] = taken[at + 1]
end
redis.call('DEL', claim)
redis.call('HSET', claim, 'over', '1')
expire(claim, tonumber(ARGV[4]))
if was['over'] or not was['holder'] then
  return 0
end

redis.call('ZREM', running, holder)
if drill ~= '' then
  redis.call('ZREM', drill, holder)
end
if turn ~= '' and redis.call('GET', turn) == holder then
  redis.call('DEL', turn)
end

for at = 6, #ARGV, 2 do
  local name, cost = ARGV[at], tonumber(ARGV[at + 1])
  local reserved, drained_at = tonumber(was['cost:' .. name]), tonumber(was['until:' .. name])
  local backlog, more = backlog_us(redis.call('HGET', rates, name), now), cost - reserved
  if more >= 0 then
    backlog = math.min(backlog + more, HORIZON_US)
  else
    backlog = math.max(backlog - math.min(-more, math.max(drained_at - now, 0)), 0)
  end
  redis.call('HSET', rates, name, whole(now + backlog))
  expire(rates, HORIZON_US)
end

if given_back and was['session'] then
  redis.call('ZREM', sessions, session)
end
if given_back and was['seat'] then
  redis.call('ZREM', seats, session)
  redis.call('ZREM', walk_ins, session)
end
return 1
