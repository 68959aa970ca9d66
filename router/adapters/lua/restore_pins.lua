-- Writes pins again that a database lost when it was emptied, in their next generation. Where there is one, it stays.
-- ARGV from 3: session, replica, generation, KV tokens and cohort of each. Returns the pins there are now.
local answers = {}
for i = 3, #ARGV, 5 do
  local pin = stored(ARGV[i])
  if not pin then
    pin = {
      session = ARGV[i], replica = ARGV[i + 1], generation = tonumber(ARGV[i + 2]) + 1, kv = ARGV[i + 3],
      cohort = ARGV[i + 4],
    }
    write(pin)
    tell(pin.session, pin.replica, pin.generation)
  end
  table.insert(answers, answer(pin))
end
return answers
