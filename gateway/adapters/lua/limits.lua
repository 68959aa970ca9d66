-- What the scripts of limits share; it stands before each of them. The definition is gateway/domain/ (limit_book.py,
-- quotas.py, leases.py), line by line. All moments are whole microseconds; they and all sums of them stay below 2^53,
-- where doubles are exact.
--
-- dy:lim:claim:<holder>            hash: what a claim has taken, or `over` for a while after its end
-- dy:lim:rates:<tenant>:<account>  hash: when each bucket of the account will be empty
-- dy:lim:running:<tenant>:<account>, dy:lim:drill:<drill>          sorted sets: holder -> end of its lease
-- dy:lim:seats:<drill>, dy:lim:walkins:<drill>, dy:lim:sessions:<tenant>   sorted sets: session -> end of its seat
-- dy:turn:<session>                string: the holder of the session's turn lease, as the turn lock keeps it
--
-- An absent key is passed as ''. Nothing is written before everything is known to fit.
local HORIZON_US = 120000000

local function whole(number)
  return string.format('%.0f', number)
end

-- ARGV[1] is empty but in tests: the clock is the one of Redis, which is the same for all.
local function clock()
  if ARGV[1] ~= '' then
    return tonumber(ARGV[1])
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function expire(key, us)
  redis.call('PEXPIRE', key, whole(math.ceil(us / 1000)))
end

local function backlog_us(empty_at, now)
  local ahead = (tonumber(empty_at) or 0) - now
  if ahead > 0 and ahead <= HORIZON_US then
    return ahead
  end
  return 0
end

local function held(key, now, lease_us)
  return redis.call('ZCOUNT', key, '(' .. whole(now), whole(now + 2 * lease_us))
end

local function next_end(key, now, lease_us)
  local first = redis.call(
    'ZRANGEBYSCORE', key, '(' .. whole(now), whole(now + 2 * lease_us), 'WITHSCORES', 'LIMIT', 0, 1)
  return first[2] and tonumber(first[2]) - now or 0
end

local function holds(key, holder, now, lease_us)
  local ends = tonumber(redis.call('ZSCORE', key, holder) or 0)
  return ends > now and ends <= now + 2 * lease_us
end

local function take(key, holder, now, lease_us)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', whole(now))
  redis.call('ZADD', key, whole(now + lease_us), holder)
  expire(key, 2 * lease_us)
end

-- The key of the set where the session sits or may sit down; one that has a place keeps it.
local function place(seats, walk_ins, session, most_seats, most_walk_ins, now, seat_us)
  if holds(seats, session, now, seat_us) then
    return seats
  end
  if holds(walk_ins, session, now, seat_us) then
    return walk_ins
  end
  if most_seats < 0 or held(seats, now, seat_us) < most_seats then
    return seats
  end
  if held(walk_ins, now, seat_us) < most_walk_ins then
    return walk_ins
  end
  return nil
end
