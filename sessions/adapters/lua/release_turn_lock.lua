-- Gives back the lease of KEYS[1] if it is still the one of the owner ARGV[1].
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
