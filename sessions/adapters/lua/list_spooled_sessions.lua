-- The first ARGV[3] sessions of KEYS[1], for whoever holds the lease KEYS[2] or can take it: ARGV[1] is its owner, ARGV[2]
-- how many milliseconds it holds. Nothing for anybody else.
local owner = redis.call('GET', KEYS[2])
if owner and owner ~= ARGV[1] then
  return {}
end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return redis.call('ZRANGE', KEYS[1], 0, ARGV[3] - 1)
