-- Counts the sessions in use per replica. KEYS: the sessions of each replica. ARGV: time to live in seconds.
local time = redis.call('TIME')
local oldest = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1] * 1000
local counts = {}
for i, sessions in ipairs(KEYS) do
  counts[i] = redis.call('ZCOUNT', sessions, '(' .. string.format('%.0f', oldest), '+inf')
end
return counts
