-- Writes pages of turn journals. KEYS: for each page its journal, and the session's latest head.
-- ARGV: for how many milliseconds a running one and an ended one are kept; then for each page: mode (open, append or
-- again), attempt, head, the place of its text, the text, the place of its end, the end; the last four may be empty.
-- Answers for each page: kept, gone (nothing to append to) or replaced (another attempt has the place).
-- A journal is a stream whose entries are numbered by their places in the turn's events; the first one is the head.
local FIELDS = 7

-- What is there already is told again by a writer who has lost the answer.
local function add(journal, place, field, value)
  if value == '' then
    return
  end
  local answer = redis.pcall('XADD', journal, place .. '-0', field, value)
  if type(answer) == 'table' and answer.err and not string.find(answer.err, 'equal or smaller', 1, true) then
    error(answer.err)
  end
end

local answers = {}
for page = 1, #KEYS / 2 do
  local journal, latest = KEYS[2 * page - 1], KEYS[2 * page]
  local base = 2 + (page - 1) * FIELDS
  local mode, attempt, head = ARGV[base + 1], ARGV[base + 2], ARGV[base + 3]
  if mode == 'open' then
    redis.call('DEL', journal)
  end
  local first = redis.call('XRANGE', journal, '-', '+', 'COUNT', 1)[1]
  if not first and mode == 'append' then
    answers[page] = 'gone'
  elseif first and first[2][2] ~= attempt then
    answers[page] = 'replaced'
  else
    if not first then
      redis.call('XADD', journal, '1-0', 'attempt', attempt, 'head', head)
      redis.call('SET', latest, head)
    end
    add(journal, ARGV[base + 4], 'text', ARGV[base + 5])
    add(journal, ARGV[base + 6], 'end', ARGV[base + 7])
    local keep_ms = ARGV[base + 7] == '' and ARGV[1] or ARGV[2]
    redis.call('PEXPIRE', journal, keep_ms)
    redis.call('PEXPIRE', latest, keep_ms)
    answers[page] = 'kept'
  end
end
return answers
