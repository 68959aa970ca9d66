-- The sessions pinned to a replica, the longest unused first: session, then generation. ARGV from 3: replica, limit.
local answers = {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', use_key(ARGV[3]), '(' .. whole(cutoff), '+inf', 'LIMIT', 0,
  ARGV[4])) do
  local session = string.match(member, '^%d+:(.*)$')
  local pin = stored(session)
  if pin and pin.replica == ARGV[3] then
    table.insert(answers, session)
    table.insert(answers, pin.generation)
  end
end
return answers
