-- Keeps ARGV[2] as the turn of number ARGV[1] under KEYS[1], unless more than ARGV[3] turns or ARGV[4] bytes would wait
-- then. KEYS[2] lists the sessions (member ARGV[5]) by when they began to wait, KEYS[3] counts.
-- Answers 1 when it is kept, 0 when there is no room, -1 when another turn has the number.
local there = redis.call('HGET', KEYS[1], ARGV[1])
if there then
  return there == ARGV[2] and 1 or -1
end
local size = redis.call('HMGET', KEYS[3], 'turns', 'bytes')
local turns, bytes = (tonumber(size[1]) or 0) + 1, (tonumber(size[2]) or 0) + #ARGV[2]
if turns > tonumber(ARGV[3]) or bytes > tonumber(ARGV[4]) then
  return 0
end
local now = redis.call('TIME')
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], 'NX', now[1] * 1000 + math.floor(now[2] / 1000), ARGV[5])
redis.call('HSET', KEYS[3], 'turns', turns, 'bytes', bytes)
return 1
