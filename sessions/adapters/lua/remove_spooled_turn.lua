-- Takes the turn of number ARGV[1] out of KEYS[1]; with KEYS[4] it goes to the end of that list. KEYS[2] lists the
-- sessions (member ARGV[2]), KEYS[3] counts. Answers 1 when it was there.
local there = redis.call('HGET', KEYS[1], ARGV[1])
if not there then
  return 0
end
redis.call('HDEL', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('ZREM', KEYS[2], ARGV[2])
end
redis.call('HINCRBY', KEYS[3], 'turns', -1)
redis.call('HINCRBY', KEYS[3], 'bytes', -#there)
if KEYS[4] then
  redis.call('RPUSH', KEYS[4], there)
end
return 1
