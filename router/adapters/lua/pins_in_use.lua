-- The epoch, then how many sessions of each replica were used lately. ARGV from 3: within how many ms, the replicas.
local after = '(' .. whole(math.max(cutoff, now_ms - tonumber(ARGV[3])))
local answers = { redis.call('GET', EPOCH) or '' }
for i = 4, #ARGV do table.insert(answers, redis.call('ZCOUNT', use_key(ARGV[i]), after, '+inf')) end
return answers
