-- What operators ordered of the fleet, and what the routers said; every change is this one script.
-- dy:board:added     hash of replica -> its description
-- dy:board:removed   set of replicas
-- dy:board:drains    hash of replica -> since and deadline in seconds
-- dy:board:routers   hash of router -> time of its report in seconds, and the report
-- ARGV: what to do, seconds after which a router is dead, most entries, name, and what else the step takes.
local step, dead_after_s, most, name, more = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local ADDED, REMOVED, DRAINS, ROUTERS = 'dy:board:added', 'dy:board:removed', 'dy:board:drains', 'dy:board:routers'
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000

local function text(seconds) return string.format('%.6f', seconds) end

local function has_place(key)
  return redis.call('HEXISTS', key, name) == 1 or redis.call('HLEN', key) < most
end

local function bury_the_dead()
  local routers = redis.call('HGETALL', ROUTERS)
  for i = 1, #routers, 2 do
    if tonumber(string.match(routers[i + 1], '^%S+')) <= now - dead_after_s then
      redis.call('HDEL', ROUTERS, routers[i])
    end
  end
end

local steps = {}

function steps.read()
  bury_the_dead()
  return {
    text(now), redis.call('HGETALL', ADDED), redis.call('SMEMBERS', REMOVED), redis.call('HGETALL', DRAINS),
    redis.call('HGETALL', ROUTERS),
  }
end

function steps.add()
  if not has_place(ADDED) then return 0 end
  redis.call('HSET', ADDED, name, more)
  redis.call('SREM', REMOVED, name)
  redis.call('HDEL', DRAINS, name)
  return 1
end

function steps.remove()
  if redis.call('SISMEMBER', REMOVED, name) == 0 and redis.call('SCARD', REMOVED) >= most then return 0 end
  redis.call('SADD', REMOVED, name)
  redis.call('HDEL', ADDED, name)
  redis.call('HDEL', DRAINS, name)
  return 1
end

function steps.forget()
  redis.call('SREM', REMOVED, name)
  redis.call('HDEL', ADDED, name)
  redis.call('HDEL', DRAINS, name)
  return 1
end

function steps.drain()
  if not has_place(DRAINS) then return 0 end
  local known = redis.call('HGET', DRAINS, name)
  local since = known and string.match(known, '^%S+') or text(now)
  redis.call('HSET', DRAINS, name, since .. ' ' .. text(now + tonumber(more)))
  return 1
end

function steps.undrain()
  redis.call('HDEL', DRAINS, name)
  return 1
end

function steps.report()
  bury_the_dead()
  if not has_place(ROUTERS) then return 0 end
  redis.call('HSET', ROUTERS, name, text(now) .. ' ' .. more)
  return 1
end

function steps.leave()
  redis.call('HDEL', ROUTERS, name)
  return 1
end

return steps[step]()
