-- Lets holders keep their places for another lease; never takes one that was lost. Answers for each whether everything
-- was still its own.
-- KEYS: claim, running, drill, turn of each; ARGV: now, lease, then the holders
local now, lease_us = clock(), tonumber(ARGV[2])

local function renew(key, holder)
  if tonumber(redis.call('ZSCORE', key, holder) or 0) <= now then
    return false
  end
  redis.call('ZADD', key, whole(now + lease_us), holder)
  expire(key, 2 * lease_us)
  return true
end

local answers = {}
for at = 3, #ARGV do
  local holder, first = ARGV[at], 4 * (at - 3)
  local claim, running, drill, turn = KEYS[first + 1], KEYS[first + 2], KEYS[first + 3], KEYS[first + 4]
  local kept = renew(running, holder)
  if drill ~= '' then
    kept = renew(drill, holder) and kept
  end
  if turn ~= '' then
    if redis.call('GET', turn) == holder then
      expire(turn, lease_us)
    else
      kept = false
    end
  end
  expire(claim, lease_us + HORIZON_US)
  answers[#answers + 1] = kept and 1 or 0
end
return answers
