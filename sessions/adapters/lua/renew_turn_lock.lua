-- Lets the owner ARGV[1] keep the lease of KEYS[1] for another ARGV[2] milliseconds; never takes one that was lost.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
