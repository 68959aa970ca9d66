-- Keeps ARGV[3], and the session's row ARGV[5], under KEYS[1] for ARGV[4] milliseconds as the state of version ARGV[1] and
-- note count ARGV[2], unless a newer state is there. Answers 1 when it was kept. A key that holds something else is replaced.
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
  redis.call('DEL', KEYS[1])
end
local stored = redis.call('HMGET', KEYS[1], 'version', 'notes')
local version, notes = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
local new_version, new_notes = tonumber(ARGV[1]), tonumber(ARGV[2])
if version > new_version or (version == new_version and notes > new_notes) then
  return 0
end
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'notes', ARGV[2], 'history', ARGV[3], 'session', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
