-- Chooses a replica and pins the session to it, unless another router was first; returns the pin that won, and 1 if this
-- claim wrote it, else 0.
-- `choose` is the twin of router/domain/placement.py; a contract test holds both to the same answers.
-- ARGV from 3: the session, replica and generation being replaced ('' and 0: none), KV tokens, cohort ('': none),
-- bound, where to begin among equals, the candidates.
local session, replacing, replacing_generation = ARGV[3], ARGV[4], tonumber(ARGV[5])
local kv, cohort, bound, start = tonumber(ARGV[6]), ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
local FIRST = 10
local LEFT, LEFT_MS, NOBODY = 'dy:p2:left', 5000, { kv = 0, sessions = 0 }

local function claimed(pin, is_won)
  local told = answer(pin)
  told[#told + 1] = is_won
  return told
end

local function holders()
  if cohort == '' then return nil end
  local held = {}
  for _, replica in ipairs(redis.call('ZRANGEBYSCORE', 'dy:p2:cohort:' .. cohort, '(' .. whole(now_ms - HOLDS_MS),
    '+inf')) do
    held[replica] = true
  end
  return held
end

-- What has left replicas just now. It still counts where a session is placed: see router/domain/leavers.py, its twin.
local function leavers()
  local found, fields = {}, redis.call('HGETALL', LEFT)
  for i = 1, #fields, 2 do
    local at, tokens, sessions = string.match(fields[i + 1], '^(%d+) (%d+) (%d+)$')
    if tonumber(at) > now_ms - LEFT_MS then
      found[fields[i]] = { kv = tonumber(tokens), sessions = tonumber(sessions) }
    else
      redis.call('HDEL', LEFT, fields[i])
    end
  end
  return found
end

local function note_leaver(replica, tokens)
  local before = leavers()[replica] or { kv = 0, sessions = 0 }
  local now_left = whole(now_ms) .. ' ' .. whole(before.kv + tokens) .. ' ' .. whole(before.sessions + 1)
  redis.call('HSET', LEFT, replica, now_left)
  redis.call('PEXPIRE', LEFT, LEFT_MS)
end

local function choose()
  local count, total, least, left = #ARGV - FIRST + 1, 0, math.huge, leavers()
  local sessions = redis.call('HMGET', SESSIONS, unpack(ARGV, FIRST))
  local tokens = redis.call('HMGET', KV, unpack(ARGV, FIRST))
  for i = 1, count do
    local away = left[ARGV[FIRST + i - 1]] or NOBODY
    tokens[i] = tonumber(tokens[i] or 0) + away.kv
    sessions[i] = tonumber(sessions[i] or 0) + away.sessions
    total = total + tokens[i]
    least = math.min(least, tokens[i])
  end
  local mean, held = (total + kv) / count, holders()
  local above = math.max((bound - 1) * mean, kv)
  local limit = math.min(mean + above - kv, least + above)

  local function better(i, than)
    if not than or tokens[i] ~= tokens[than] then return not than or tokens[i] < tokens[than] end
    return sessions[i] < sessions[than]
  end

  local best, best_holder
  local i = start % count
  for _ = 1, count do
    i = i % count + 1
    if better(i, best) then best = i end
    if held and held[ARGV[FIRST + i - 1]] and tokens[i] <= limit and better(i, best_holder) then best_holder = i end
  end
  return ARGV[FIRST + (best_holder or best) - 1]
end

local pin = stored(session)
if pin then
  if pin.replica ~= replacing or pin.generation ~= replacing_generation then return claimed(pin, 0) end
  drop(pin.replica, pin.member)
end
sweep(16)
local won = {
  session = session, replica = choose(), generation = replacing_generation + 1, kv = whole(kv), cohort = cohort,
}
write(won)
if pin and pin.replica ~= won.replica then note_leaver(pin.replica, tonumber(pin.kv)) end
-- The first generation too: a cache may still believe a pin that has expired since.
tell(session, won.replica, won.generation)
return claimed(won, 1)
