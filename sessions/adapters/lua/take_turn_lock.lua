-- Takes the lease of KEYS[1] for the owner ARGV[1] for ARGV[2] milliseconds.
-- Answers -1 when it is taken, otherwise how many milliseconds the other owner still has.
-- Asking twice with the same owner is taking it once: a client may try again when it lost the answer.
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return -1
end
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return -1
end
return math.max(redis.call('PTTL', KEYS[1]), 0)
