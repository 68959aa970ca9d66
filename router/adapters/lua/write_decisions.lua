-- Keeps decisions for an hour. ARGV: seconds to keep, then request id and decision of each.
for i = 2, #ARGV, 2 do redis.call('SET', 'dy:decision:' .. ARGV[i], ARGV[i + 1], 'EX', ARGV[1]) end
return (#ARGV - 1) / 2
