-- Takes a session that has ended out of its tenant and its drill.
-- KEYS: sessions, and perhaps seats and walk-ins; ARGV: session
for _, key in ipairs(KEYS) do
  redis.call('ZREM', key, ARGV[1])
end
return 1
