-- Reads a pin and notes that it is in use: its time to live starts anew, here and in the count of its replica.
-- KEYS[1] the pin. ARGV: time to live in seconds, prefix of the sessions per replica, the affinity key.
local pin = redis.call('HMGET', KEYS[1], 'replica', 'generation')
if not pin[1] then
  return false
end
local time = redis.call('TIME')
local sessions = ARGV[2] .. pin[1]
redis.call('EXPIRE', KEYS[1], ARGV[1])
redis.call('ZADD', sessions, time[1] * 1000 + math.floor(time[2] / 1000), ARGV[3])
redis.call('EXPIRE', sessions, ARGV[1])
return { pin[1], tonumber(pin[2]) }
