-- What is pinned to each replica: sessions and KV tokens in turn. ARGV from 3: the replicas.
local answers = {}
for i = 3, #ARGV do
  check(ARGV[i])
  table.insert(answers, tonumber(redis.call('HGET', SESSIONS, ARGV[i]) or 0))
  table.insert(answers, tonumber(redis.call('HGET', KV, ARGV[i]) or 0))
end
return answers
