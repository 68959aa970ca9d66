-- Takes everything that a claim needs, or nothing. Answers what refuses it ('' when nothing does), how many
-- microseconds until that may have changed, and the backlog of each quota afterwards.
-- KEYS: claim, rates, running, turn, drill, seats, walk-ins, sessions
-- ARGV: now, holder, session, lease, seat's time, most turns in flight, watermark, most seats, most walk-ins,
--       then name, cost and depth of each quota; a limit of -1 is none
local now, holder, session = clock(), ARGV[2], ARGV[3]
local lease_us, seat_us = tonumber(ARGV[4]), tonumber(ARGV[5])
local most_running, watermark = tonumber(ARGV[6]), tonumber(ARGV[7])
local most_seats, most_walk_ins = tonumber(ARGV[8]), tonumber(ARGV[9])
local claim, rates, running, turn, drill = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local seats, walk_ins, sessions = KEYS[6], KEYS[7], KEYS[8]

local names, costs, backlogs = {}, {}, {}
local slowest, longest = '', 0
for at = 10, #ARGV, 3 do
  local name, cost, depth = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local backlog = backlog_us(redis.call('HGET', rates, name), now)
  names[#names + 1], costs[#costs + 1], backlogs[#backlogs + 1] = name, cost, backlog
  if cost > 0 and backlog + cost - depth > longest then
    slowest, longest = name, backlog + cost - depth
  end
end

local function answer(refused_by, wait)
  return { refused_by, wait, unpack(backlogs) }
end

-- A client that lost the answer asks again; and one that gave up may be heard only after it has given back.
if redis.call('EXISTS', claim) == 1 then
  return answer(redis.call('HEXISTS', claim, 'over') == 1 and 'over' or '', 0)
end

if turn ~= '' then
  local left = redis.call('PTTL', turn)
  if left > 0 and left * 1000 <= 2 * lease_us then
    return answer('session', left * 1000)
  end
end
if longest > 0 then
  return answer(slowest, longest)
end
if most_running >= 0 and held(running, now, lease_us) >= most_running then
  return answer('turns_in_flight', next_end(running, now, lease_us))
end
local sits = nil
if drill ~= '' and session ~= '' then
  sits = place(seats, walk_ins, session, most_seats, most_walk_ins, now, seat_us)
end
if drill ~= '' and watermark >= 0 and sits ~= seats and held(drill, now, lease_us) >= watermark then
  return answer('watermark', next_end(drill, now, lease_us))
end

local taken = {}
for at, name in ipairs(names) do
  backlogs[at] = backlogs[at] + costs[at]
  local empty_at = whole(now + backlogs[at])
  redis.call('HSET', rates, name, empty_at)
  taken[#taken + 1], taken[#taken + 2] = 'cost:' .. name, whole(costs[at])
  taken[#taken + 1], taken[#taken + 2] = 'until:' .. name, empty_at
end
if #names > 0 then
  expire(rates, HORIZON_US)
end
take(running, holder, now, lease_us)
if drill ~= '' then
  take(drill, holder, now, lease_us)
end
if session ~= '' then
  redis.call('SET', turn, holder, 'PX', whole(math.ceil(lease_us / 1000)))
  if not holds(sessions, session, now, seat_us) then
    taken[#taken + 1], taken[#taken + 2] = 'session', 'new'
  end
  take(sessions, session, now, seat_us)
  if sits then
    if not holds(sits, session, now, seat_us) then
      taken[#taken + 1], taken[#taken + 2] = 'seat', 'new'
    end
    take(sits, session, now, seat_us)
  end
end
redis.call('HSET', claim, 'holder', holder, unpack(taken))
expire(claim, lease_us + HORIZON_US)
return answer('', 0)
