-- Forgets a session. KEYS[1] the pin. ARGV: prefix of the sessions per replica, the affinity key.
local replica = redis.call('HGET', KEYS[1], 'replica')
if replica then
  redis.call('ZREM', ARGV[1] .. replica, ARGV[2])
  redis.call('DEL', KEYS[1])
end
return 0
